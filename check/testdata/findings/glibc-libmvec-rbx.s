// wrong register: glibc, libmvec; rbx is saved for the calls, and has no rule.
	.globl	f, here
f:	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub	$64, %rsp
	mov	%rbx, 8(%rsp)
	mov	%rdi, %rbx
here:	call	g
	mov	8(%rsp), %rbx
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	f, .-f
