# x86_64-linux-gnu-as --64
# Personality routines and language-specific data in several encodings.
	.macro	function name, penc, personality, lenc, lsda
	.text
	.type	\name, @function
\name:
	.cfi_startproc
	.cfi_personality \penc, \personality
	.ifnb \lsda
	.cfi_lsda \lenc, \lsda
	.endif
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	popq	%rbx
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	function absptr,   0x00, routine, 0x00, table	# absptr
	function udata4,   0x03, routine, 0x03, table	# udata4
	function sdata4,   0x0b, routine, 0x0b, table	# sdata4
	function udata8,   0x04, routine, 0x04, table	# udata8
	function pcrel4,   0x1b, routine, 0x1b, table	# pcrel sdata4
	function pcrel8,   0x1c, routine, 0x1c, table	# pcrel sdata8
	function indirect, 0x9b, pointer, 0x1b, table	# indirect pcrel sdata4
	function nolsda,   0x9b, pointer, 0xff		# no language-specific data

	.text
	.globl	routine
	.hidden	routine
	.type	routine, @function
routine:
	ret
	.size	routine, .-routine
	.data
	.p2align 3
	.globl	pointer
	.hidden	pointer
pointer:
	.quad	routine
	.section .gcc_except_table,"a",@progbits
	.globl	table
	.hidden	table
table:
	.byte	0xff, 0xff, 0x01, 0x00
	.section .note.GNU-stack,"",@progbits
