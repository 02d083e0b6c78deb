# hppa-linux-gnu-as
# PA-RISC: the stack grows up, so offsets are positive.
	.text
	.type	function, @function
function:
	.cfi_startproc
	stw	%r2, -20(%r30)
	.cfi_offset 2, -20
	copy	%r3, %r1
	.cfi_register 3, 1
	copy	%r30, %r3
	.cfi_def_cfa_register 3
	stwm	%r1, 64(%r30)
	.cfi_offset 3, 0
	bv	%r0(%r2)
	nop
	.cfi_endproc
	.size	function, .-function
