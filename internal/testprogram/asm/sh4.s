# sh4-linux-gnu-as
# SuperH.
	.text
	.type	function, @function
function:
	.cfi_startproc
	mov.l	r14, @-r15
	.cfi_def_cfa_offset 4
	.cfi_offset 14, -4
	sts.l	pr, @-r15
	.cfi_def_cfa_offset 8
	.cfi_offset 17, -8
	mov	r15, r14
	.cfi_def_cfa_register 14
	lds.l	@r15+, pr
	.cfi_restore 17
	rts
	mov.l	@r15+, r14
	.cfi_endproc
	.size	function, .-function
