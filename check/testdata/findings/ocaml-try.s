// wrong CFA: ocamlopt 4.13; the call of the garbage collector comes last and lacks the words of try in its row.
	.globl f, here
f:	.cfi_startproc
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	lea	3f(%rip), %r11
	push	%r11
	.cfi_adjust_cfa_offset 8
	push	16(%r14)
	.cfi_adjust_cfa_offset 8
	mov	%rsp, 16(%r14)
1:	sub	$16, %rax
	cmp	(%r14), %rax
	jb	2f
	pop	16(%r14)
	.cfi_adjust_cfa_offset -8
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
3:	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
2:
here:	call	g
	jmp	1b
	.cfi_endproc
	.size f, .-f
