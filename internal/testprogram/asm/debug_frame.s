# x86_64-linux-gnu-as --64
# .cfi_sections .debug_frame
	.cfi_sections .debug_frame
	.text
	.type	first, @function
first:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	nop
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	first, .-first

	.section .text.second,"ax",@progbits
	.type	second, @function
second:
	.cfi_startproc
	.cfi_signal_frame
	nop
	.cfi_def_cfa %rbp, 16
	ret
	.cfi_endproc
	.size	second, .-second
	.section .note.GNU-stack,"",@progbits
