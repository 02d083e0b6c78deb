# COUNT functions with call frame information, for any machine. The program of
# functions.c waits in the last of them.

	.altmacro
	.macro function n
	.globl function_\n
	.type function_\n, %function
function_\n:
	.cfi_startproc
	.zero 8
	.cfi_def_cfa_offset 32
	.zero 8
	.cfi_def_cfa_offset 16
	.zero 8
	.cfi_endproc
	.size function_\n, .-function_\n
	.endm

	.text
	.set i, 0
	.rept COUNT
	function %i
	.set i, i+1
	.endr
	.section .note.GNU-stack, "", %progbits
