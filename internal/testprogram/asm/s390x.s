# s390x-linux-gnu-as
# s390x, big-endian: the CFA is 160 bytes above the stack pointer; general
# registers kept in floating-point ones.
	.text
	.type	function, @function
function:
	.cfi_startproc
	stmg	%r6,%r15,48(%r15)
	.cfi_offset %r6, -112
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	ldgr	%f0,%r11
	.cfi_register %r11, %f0
	aghi	%r15,-168
	.cfi_def_cfa_offset 328
	.cfi_remember_state
	lgdr	%r11,%f0
	.cfi_restore %r11
	lmg	%r6,%r15,216(%r15)
	.cfi_restore %r15
	.cfi_restore %r14
	.cfi_restore %r6
	.cfi_def_cfa_offset 160
	br	%r14
	.cfi_restore_state
	nopr
	br	%r14
	.cfi_endproc
	.size	function, .-function
