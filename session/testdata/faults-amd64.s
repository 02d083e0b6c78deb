# Functions that fault, each at a label "NAME.at": what processor_test.go calls.
	.intel_syntax noprefix
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
	.macro here name
	.globl \name\().at
\name\().at:
	.endm

	# With a frame, so that a stack has one more.
	.macro simple name code:vararg
	function \name
	mov rax, rdi
	here \name
	\code
	ret
	end \name
	.endm

	simple read, mov rax, [rdi]
	simple write, mov [rdi], rsi
	simple execute, jmp rdi
	simple divide, div esi
	simple overflow, idiv esi
	simple illegal, ud2
	simple breakpoint, int3
	simple icebp, .byte 0xf1
	simple software, .byte 0xcd, 3
	simple halt, hlt
	simple privileged, mov cr3, rax
	simple into, int 0x40
	simple vector, movaps xmm0, [rdi]
	simple x87, fwait

	# Calls its argument.
	function caller
	push rbx
	.cfi_adjust_cfa_offset 8
	call rdi
	.globl caller.next
caller.next:
	pop rbx
	.cfi_adjust_cfa_offset -8
	ret
	end caller

	function jump
	jmp rdi
	end jump

	# Unmasks the exceptions in esi, of SSE, and divides 1 by 0.
	function sse
	mov eax, 0x1f80
	andn eax, esi, eax
	push rax
	.cfi_adjust_cfa_offset 8
	ldmxcsr [rsp]
	mov eax, 1
	cvtsi2sd xmm0, eax
	xorps xmm1, xmm1
	here sse
	divsd xmm0, xmm1
	pop rax
	.cfi_adjust_cfa_offset -8
	ret
	end sse

	# Reads 4 bytes with alignment checks on.
	function unaligned
	pushfq
	.cfi_adjust_cfa_offset 8
	or dword ptr [rsp], 0x40000
	popfq
	.cfi_adjust_cfa_offset -8
	here unaligned
	mov eax, [rdi]
	ret
	end unaligned

	# Sets the trap flag itself.
	function ownflag
	pushfq
	.cfi_adjust_cfa_offset 8
	or dword ptr [rsp], 0x100
	popfq
	.cfi_adjust_cfa_offset -8
	nop
	here ownflag
	mov eax, 5
	pushfq
	.cfi_adjust_cfa_offset 8
	and dword ptr [rsp], 0xfffffeff
	popfq
	.cfi_adjust_cfa_offset -8
	ret
	end ownflag

	.section .note.GNU-stack, "", @progbits
