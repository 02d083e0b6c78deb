# mips64el-linux-gnuabi64-as -mabi=64
# MIPS, -mabi=64.
	.text
	.type	function, @function
function:
	.cfi_startproc
	addiu	$29, $29, -32
	.cfi_def_cfa_offset 32
	sd	$31, 24($29)
	.cfi_offset 31, -8
	sd	$30, 16($29)
	.cfi_offset 30, -16
	move	$30, $29
	.cfi_def_cfa_register 30
	.skip	1024
	.cfi_escape 0x1d, 0, 0, 0, 0, 0, 0, 0, 0	# MIPS_advance_loc8 0
	move	$29, $30
	.cfi_def_cfa_register 29
	.cfi_restore 30
	.cfi_restore 31
	.cfi_def_cfa_offset 0
	jr	$31
	.cfi_endproc
	.size	function, .-function
