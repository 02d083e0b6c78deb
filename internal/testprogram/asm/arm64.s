# aarch64-linux-gnu-as
# AArch64: signed return addresses with both keys, the vector registers' columns.
	.text
	.type	akey, %function
akey:
	.cfi_startproc
	hint	25				// paciasp
	.cfi_negate_ra_state
	stp	x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov	x29, sp
	.cfi_def_cfa_register 29
	str	d8, [sp, 16]
	.cfi_offset 72, -16
	.cfi_remember_state
	ldp	x29, x30, [sp], 32
	.cfi_restore 30
	.cfi_restore 29
	.cfi_restore 72
	.cfi_def_cfa 31, 0
	hint	29				// autiasp
	.cfi_negate_ra_state
	ret
	.cfi_restore_state
	nop
	.cfi_endproc
	.size	akey, .-akey

	.type	bkey, %function
bkey:
	.cfi_startproc
	.cfi_b_key_frame
	hint	27				// pacibsp
	.cfi_negate_ra_state
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	ldp	x29, x30, [sp], 16
	hint	31				// autibsp
	.cfi_negate_ra_state
	ret
	.cfi_endproc
	.size	bkey, .-bkey

	.type	outermost, %function
outermost:
	.cfi_startproc
	.cfi_undefined x30
	nop
	.cfi_endproc
	.size	outermost, .-outermost
