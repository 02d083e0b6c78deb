// wrong CFA: glibc, __mpn_addmul_1; a push without directives.
	.globl	f, here
f:	.cfi_startproc
	push	%rbx
here:	xor	%ebx, %ebx
	pop	%rbx
	ret
	.cfi_endproc
	.size	f, .-f
