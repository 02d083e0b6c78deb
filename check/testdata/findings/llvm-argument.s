// wrong CFA: LLVM; the row for a pushed argument is late by the instruction that follows the push.
	.globl	f, here
f:	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov	%rdi, %rbx
	push	$0
	.cfi_adjust_cfa_offset 8
	push	%rbx
here:	mov	(%rbx), %rbx
	.cfi_adjust_cfa_offset 8
	call	g
	add	$16, %rsp
	.cfi_adjust_cfa_offset -16
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	f, .-f
