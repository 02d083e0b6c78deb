// wrong return address: clang 20 -mbranch-protection=standard; the directive is before the instruction (llvm-project issue 137802).
	.globl	f, here
f:	.cfi_startproc
	.cfi_negate_ra_state
here:	paciasp
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	bl	g
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
	autiasp
	.cfi_negate_ra_state
	ret
	.cfi_endproc
	.size	f, .-f
