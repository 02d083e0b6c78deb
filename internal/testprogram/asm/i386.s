# x86_64-linux-gnu-as --32
# i386, in .eh_frame and .debug_frame.
	.cfi_sections .eh_frame, .debug_frame
	.text
	.type	function, @function
function:
	.cfi_startproc
	pushl	%ebp
	.cfi_def_cfa_offset 8
	.cfi_offset %ebp, -8
	movl	%esp, %ebp
	.cfi_def_cfa_register %ebp
	pushl	%ebx
	.cfi_offset %ebx, -12
	.cfi_escape 0x2e, 0x10				# GNU_args_size 16
	leave
	.cfi_def_cfa %esp, 4
	.cfi_restore %ebp
	ret
	.cfi_endproc
	.size	function, .-function
	.section .note.GNU-stack,"",@progbits
