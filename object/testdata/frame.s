	.cfi_sections .eh_frame, .debug_frame
	.text
	.globl	outer
	.type	outer, %function
outer:
	.cfi_startproc
	.skip	8
	.cfi_def_cfa_offset 32
	.skip	40
	.cfi_offset 1, -8
	.skip	4
	.cfi_endproc
	.size	outer, .-outer
