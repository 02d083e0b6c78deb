// wrong CFA: clang -O2; two epilogues share an instruction that was moved before their branch.
	.globl	f, here
f:	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	sub	$16, %rsp
	.cfi_def_cfa_offset 32
	mov	%rdi, %rbx
	call	g
	mov	%rbx, %rdi
	add	$16, %rsp
here:	test	%eax, %eax
	je	1f
	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_def_cfa_offset 8
	jmp	s
1:	.cfi_def_cfa_offset 16
	pop	%rbx
	.cfi_def_cfa_offset 8
	jmp	t
	.cfi_endproc
	.size	f, .-f
