# m68k-linux-gnu-as
# m68k: code alignment 2, advances counted in it.
	.text
	.type	function, @function
function:
	.cfi_startproc
	link.w	%fp, #-8
	.cfi_def_cfa_offset 8
	.cfi_offset 14, -8
	.cfi_def_cfa_register 14
	move.l	%d2, -(%sp)
	.cfi_offset 2, -20
	.skip	300
	move.l	(%sp)+, %d2
	.cfi_restore 2
	unlk	%fp
	.cfi_restore 14
	.cfi_def_cfa 15, 4
	rts
	.cfi_endproc
	.size	function, .-function
