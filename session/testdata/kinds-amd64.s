# One instruction of each kind that matters to breakpoints and steps, for
# kinds_test.go: what it leaves in registers and flags goes into the result.
	.intel_syntax noprefix
	.text
	.globl kinds, kinds.end, inner, again
	.type kinds, @function
	.macro mix register
	rol rbx, 5
	xor rbx, \register
	.endm
kinds:
	.cfi_startproc
	push rbx
	.cfi_adjust_cfa_offset 8
	push rbp
	.cfi_adjust_cfa_offset 8
	mov rbp, rsp
	sub rsp, 256
	.cfi_def_cfa rbp, 24
	mov rbx, rdi
	# rip-relative
	lea rsi, [rip+table]
	mov rax, [rip+number]
	add [rip+number], rdi
	sub [rip+number], rdi
	cmp byte ptr [rip+number], 0x88
	mix rax
	# flags
	cmp rax, rdi
	pushfq
	pop rdx
	mix rdx
	stc
	pushfq
	xor qword ptr [rsp], 0x881
	popfq
	pushfq
	pop rdx
	mix rdx
	pushfw
	pop dx
	mix rdx
	lahf
	mix rax
	# calls
	mov edi, 5
	call inner
	mix rax
	lea rdx, [rip+inner]
	mov edi, 6
	call rdx
	mix rax
	mov edi, 7
	call [rip+table]
	mix rax
	mov [rsp+16], rdx
	mov edi, 8
	call [rsp+16]
	mix rax
	call 1f
1:	pop rdx
	lea rcx, [rip+1b]
	sub rdx, rcx
	mix rdx
	push rsp
	pop rdx
	sub rdx, rsp
	mix rdx
	push 3
	push 4
	call popped
	mix rax
	# jumps
	jmp 2f
	ud2
2:	lea rdx, [rip+3f]
	jmp rdx
	ud2
3:	lea rdx, [rip+4f]
	mov [rsp+8], rdx
	jmp [rsp+8]
	ud2
4:	mov ecx, 4
5:	mix rcx
	loop 5b
	jrcxz 6f
	ud2
6:	mov ecx, 3
7:	test ecx, 1
	je 8f
	mix rcx
8:	dec ecx
	jns 7b
	.byte 0x3e, 0x0f, 0x84	# je rel32, not taken or taken by hint
	.long 0
	# strings
	lea rdi, [rsp+64]
	lea rsi, [rip+table+8]
	mov ecx, 7
	rep movsb
	mix rcx
	mov ecx, 0
	rep stosq
	lea rdi, [rsp+64]
	mov al, 0x5a
	mov ecx, 9
	repne scasb
	mix rcx
	lea rdi, [rsp+128]
	mov eax, 0x1234
	mov ecx, 5
	rep stosd
	mov rax, [rsp+136]
	mix rax
	# system calls
	mov eax, 39	# getpid
	syscall
	lea rdx, [rip+9f]
9:	sub rcx, rdx
	mix rcx
	mix r11
	# memory
	mov qword ptr [rsp+24], 0
	mov rax, 3
	lock xadd [rsp+24], rax
	xchg rax, [rsp+24]
	lock cmpxchg [rsp+24], rdx
	pushfq
	pop rdx
	mix rdx
	enter 16, 0
	leave
	push qword ptr [rip+number]
	pop qword ptr [rsp+32]
	mov rax, [rsp+32]
	mix rax
	cvtsi2sd xmm0, ebx
	addsd xmm0, [rip+number]
	movq rax, xmm0
	mix rax
	.byte 0x66, 0x90	# nop
	nop dword ptr [rip+number]
	vpxor xmm1, xmm1, xmm1
	vpxor xmm1, xmm1, [rip+vector]
	vmovq rax, xmm1
	mix rax
	mov eax, ss
	mov ss, eax
	mix rax
	mov rax, rbx
	mov rsp, rbp
	pop rbp
	.cfi_def_cfa rsp, 16
	pop rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size kinds, . - kinds
kinds.end:

	.type inner, @function
inner:
	.cfi_startproc
	mov eax, 1
	test edi, edi
	je 1f
	push rdi
	.cfi_adjust_cfa_offset 8
	dec edi
	call inner
	pop rdi
	.cfi_adjust_cfa_offset -8
	imul eax, edi
	add eax, 3
1:	ret
	.cfi_endproc
	.size inner, . - inner

	.type popped, @function
popped:
	.cfi_startproc
	mov rax, [rsp+8]
	sub rax, [rsp+16]
	ret 16
	.cfi_endproc
	.size popped, . - popped

	.type again, @function
again:
	.cfi_startproc
	xor eax, eax
1:	add eax, edi
	dec edi
	jnz 1b
	ret
	.cfi_endproc
	.size again, . - again

	.data
	.balign 16
vector:	.quad 0x0102030405060708, 1
table:	.quad inner
	.byte 1, 2, 3, 0x5a, 5, 6, 7, 8
number:	.quad 0x4008000000000188

	.section .note.GNU-stack, "", @progbits
