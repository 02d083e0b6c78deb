// wrong register: gcc in gRPC; the rule of rbp, which starts from rbp, precedes the instruction that sets it.
	.globl f, here
f:	.cfi_startproc
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and	$-64, %rsp
	push	-8(%r10)
	push	%rbp
	.cfi_escape 0x10, 6, 2, 0x76, 0		# rbp: DW_OP_breg6 0
here:	mov	%rsp, %rbp
	push	%r10
	.cfi_escape 0x0f, 3, 0x76, 0x78, 6	# CFA: DW_OP_breg6 -8, DW_OP_deref
	call	g
	pop	%r10
	.cfi_def_cfa %r10, 0
	pop	%rbp
	.cfi_restore %rbp
	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size f, .-f
