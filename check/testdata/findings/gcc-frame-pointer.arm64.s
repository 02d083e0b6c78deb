// wrong CFA: gcc -O2 -fno-omit-frame-pointer; x29 is restored while it is the base of the CFA.
	.globl	f, here
f:	.cfi_startproc
	sub	sp, sp, #624
	.cfi_def_cfa_offset 624
	stp	x29, x30, [sp]
	.cfi_offset 29, -624
	.cfi_offset 30, -616
	mov	x29, sp
	.cfi_def_cfa_register 29
	bl	g
	ldp	x29, x30, [sp]
here:	add	sp, sp, #624
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa 31, 0
	ret
	.cfi_endproc
	.size	f, .-f
