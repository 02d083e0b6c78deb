// wrong register: gcc; the caller's value of a global register variable (PHP, execute_ex).
	.globl	f, here
f:	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov	%r14, %rbx
	mov	%rdi, %r14
here:	call	g
	mov	%rbx, %r14
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
