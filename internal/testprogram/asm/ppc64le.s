# powerpc64le-linux-gnu-as -mregnames
# PowerPC, ppc64le: the link register has column 65, saved in the caller's frame.
	.text
	.type	function, @function
function:
	.cfi_startproc
	mflr	%r0
	.cfi_register 65, 0
	std	%r31, -8(%r1)
	.cfi_offset 31, -8
	std	%r0, 16(%r1)
	.cfi_offset 65, 16
	stfd	%f31, -16(%r1)
	.cfi_offset 63, -16
	stdu	%r1, -112(%r1)
	.cfi_def_cfa_offset 112
	mr	%r31, %r1
	.cfi_def_cfa_register 31
	mfcr	%r12
	.cfi_offset 70, 8
	addi	%r1, %r31, 112
	.cfi_def_cfa 1, 0
	.cfi_restore 65
	.cfi_restore 31
	blr
	.cfi_endproc
	.size	function, .-function
