// wrong register: SVML in OpenJDK's libjsvml; the rule is restored one instruction before the register.
	.globl f, here
f:	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	xor	%ebx, %ebx
	call	g
	.cfi_restore %rbx
here:	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size f, .-f
