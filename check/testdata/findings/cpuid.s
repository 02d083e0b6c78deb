// wrong register: inline assembly; cpuid overwrites rbx, and no row says where it is.
	.globl	f, here
f:	.cfi_startproc
	mov	%edi, %eax
	mov	%rbx, %rsi
	cpuid
here:	xchg	%rsi, %rbx
	mov	%esi, %eax
	ret
	.cfi_endproc
	.size	f, .-f
