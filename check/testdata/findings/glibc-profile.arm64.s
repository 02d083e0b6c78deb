// wrong CFA: glibc, _dl_runtime_profile; the release of the frame is added, not subtracted.
	.globl	f, here
f:	.cfi_startproc
	sub	sp, sp, #496
	.cfi_adjust_cfa_offset 496
	stp	x29, x30, [sp]
	.cfi_rel_offset 29, 0
	.cfi_rel_offset 30, 8
	bl	g
	ldp	x29, x30, [sp]
	.cfi_restore 29
	.cfi_restore 30
	add	sp, sp, #496
	.cfi_adjust_cfa_offset 496
here:	br	x16
	.cfi_endproc
	.size	f, .-f
