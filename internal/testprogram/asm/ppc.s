# powerpc-linux-gnu-as -mregnames
# PowerPC, ppc: the link register has column 65, saved in the caller's frame.
	.text
	.type	function, @function
function:
	.cfi_startproc
	mflr	%r0
	.cfi_register 65, 0
	stw	%r31, -8(%r1)
	.cfi_offset 31, -8
	stw	%r0, 4(%r1)
	.cfi_offset 65, 4
	stfd	%f31, -16(%r1)
	.cfi_offset 63, -16
	stwu	%r1, -32(%r1)
	.cfi_def_cfa_offset 32
	mr	%r31, %r1
	.cfi_def_cfa_register 31
	mfcr	%r12
	.cfi_offset 70, 8
	addi	%r1, %r31, 32
	.cfi_def_cfa 1, 0
	.cfi_restore 65
	.cfi_restore 31
	blr
	.cfi_endproc
	.size	function, .-function
