# sparc64-linux-gnu-as -64
# SPARC, 64 bits: register windows, a biased stack pointer.
	.text
	.type	function, @function
function:
	.cfi_startproc
	save	%sp, -176, %sp
	.cfi_def_cfa_register 30
	.cfi_window_save
	.cfi_register 15, 31
	nop
	ret
	restore
	.cfi_endproc
	.size	function, .-function
