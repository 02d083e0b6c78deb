// wrong CFA: glibc, svml_d_wrapper_impl.h; the CFA does not move when rbp is its base.
	.globl	f, here
f:	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	and	$-32, %rsp
	push	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
here:	sub	$40, %rsp
	mov	%rdi, %r13
	call	g
	add	$40, %rsp
	pop	%r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r13
	mov	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	f, .-f
