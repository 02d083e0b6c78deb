// wrong CFA: ocamlopt 5; the code that grows the stack comes last and has the row of the body (ocaml issue 15037).
	.globl	f, here
f:	.cfi_startproc
	lea	-328(%rsp), %r10
	cmp	40(%r14), %r10
	jb	2f
1:	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	g
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_def_cfa_offset 16
2:
here:	push	$34
	.cfi_def_cfa_offset 24
	call	grow
	pop	%r10
	.cfi_def_cfa_offset 16
	jmp	1b
	.cfi_endproc
	.size	f, .-f
