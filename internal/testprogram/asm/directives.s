# x86_64-linux-gnu-as --64
# Every directive of gas that changes a row, one function each.
	.text
	.globl	directives
	.type	directives, @function
directives:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	.cfi_offset %rbx, -24
	pushq	%r12
	.cfi_offset 12, -32
	nop
	.cfi_val_offset %r13, -48
	nop
	.cfi_register %r14, %rax
	nop
	.cfi_undefined %r15
	nop
	.cfi_same_value %rdx
	nop
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	.cfi_restore %rbx
	.cfi_restore %r12
	.cfi_restore %r13
	.cfi_restore %r14
	nop
	.cfi_restore_state
	.cfi_def_cfa_offset 24
	nop
	.cfi_remember_state
	.cfi_remember_state
	.cfi_def_cfa %rsp, 16
	nop
	.cfi_restore_state
	.cfi_undefined %rbx
	nop
	.cfi_restore_state
	nop
	.cfi_escape 0x2e, 0x10			# DW_CFA_GNU_args_size 16
	.cfi_escape 0x00, 0x00			# DW_CFA_nop
	ret
	.cfi_endproc
	.size	directives, .-directives

	# No rule to start from.
	.type	simple, @function
simple:
	.cfi_startproc simple
	.cfi_def_cfa %rdi, 0
	.cfi_offset %rip, 16
	nop
	.cfi_offset %rsp, 40
	ret
	.cfi_endproc
	.size	simple, .-simple

	# A signal frame, with another return column.
	.type	signal, @function
signal:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_return_column 17
	.cfi_def_cfa %rsp, 200
	.cfi_offset 17, -16
	nop
	ret
	.cfi_endproc
	.size	signal, .-signal

	# The end of the stack.
	.type	outermost, @function
outermost:
	.cfi_startproc
	.cfi_undefined %rip
	nop
	hlt
	.cfi_endproc
	.size	outermost, .-outermost

	# Offsets that need the signed forms, and ones beyond 32767.
	.type	offsets, @function
offsets:
	.cfi_startproc
	.cfi_offset %rbx, 8
	nop
	.cfi_offset %rbp, -262144
	nop
	.cfi_def_cfa_offset 1073741824
	nop
	.cfi_def_cfa %rsp, -16
	nop
	.cfi_def_cfa_offset -8
	nop
	.cfi_val_offset %r12, 24
	nop
	.cfi_escape 0x11, 13, 0x7e		# DW_CFA_offset_extended_sf
	nop
	.cfi_offset 66, -64			# a column beyond 63
	ret
	.cfi_endproc
	.size	offsets, .-offsets
	.section .note.GNU-stack,"",@progbits
