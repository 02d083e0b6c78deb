# Functions that fault, each at a label "NAME.at": what processor_test.go calls.
	.text
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc
	.size \name, . - \name
	.endm

	.macro simple name code:vararg
	function \name
	mov x9, x0
	.globl \name\().at
\name\().at:
	\code
	ret
	end \name
	.endm

	simple read, ldr x0, [x0]
	simple write, str x1, [x0]
	simple illegal, udf 1
	simple privileged, msr vbar_el1, x0
	simple acquire, ldar x0, [x0]
	simple breakpoint, brk 1
	simple other, brk 0xf000

	# Calls its argument.
	function caller
	stp x29, x30, [sp, -16]!
	.cfi_adjust_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	blr x0
	.globl caller.next
caller.next:
	ldp x29, x30, [sp], 16
	.cfi_restore 29
	.cfi_restore 30
	.cfi_adjust_cfa_offset -16
	ret
	end caller

	function jump
	br x0
	end jump

	.section .note.GNU-stack, "", @progbits
