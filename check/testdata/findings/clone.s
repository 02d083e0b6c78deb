// wrong CFA: compiler-rt, internal_clone; the new thread pops its function.
	.globl	f, here
f:	.cfi_startproc
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	mov	$56, %eax
	syscall
	test	%eax, %eax
	jne	1f
	pop	%rax
here:	call	*%rax
	mov	$60, %eax
	syscall
1:	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
