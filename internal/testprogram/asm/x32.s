# x86_64-linux-gnu-as --x32
# x32: 32-bit addresses, 64-bit registers.
	.cfi_sections .eh_frame, .debug_frame
	.text
	.type	function, @function
function:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movl	%esp, %ebp
	.cfi_def_cfa_register %rbp
	.cfi_escape 0x10, 3, 3, 0x76, 0x70, 0x06		# rbx at deref(rbp-16)
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	function, .-function
	.section .note.GNU-stack,"",@progbits
