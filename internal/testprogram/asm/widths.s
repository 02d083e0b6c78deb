# x86_64-linux-gnu-as --64
# Advances of every width: in the opcode, 1, 2 and 4 bytes.
	.text
	.type	widths, @function
widths:
	.cfi_startproc
	nop
	.cfi_def_cfa_offset 16
	.skip	63, 0x90
	.cfi_def_cfa_offset 24
	.skip	64, 0x90
	.cfi_def_cfa_offset 32
	.skip	255, 0x90
	.cfi_def_cfa_offset 40
	.skip	256, 0x90
	.cfi_def_cfa_offset 48
	.skip	65535, 0x90
	.cfi_def_cfa_offset 56
	.skip	65536, 0x90
	.cfi_def_cfa_offset 64
	ret
	.cfi_endproc
	.size	widths, .-widths
	.section .note.GNU-stack,"",@progbits
