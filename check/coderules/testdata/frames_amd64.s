# Functions without call frame information, with the frames that assembly language makes.
# Each calls the function in rdi, if it calls any, and keeps the psABI.
	.text
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro end name
	.size \name, . - \name
	.endm

function leaf
	mov $3, %eax
1:	dec %eax
	jnz 1b
	ret
end leaf

function pushes
	push %rbx
	push %r12
	.globl pushes_inside	# a label, not a function
pushes_inside:
	push %r15
	mov %rdi, %rbx
	xor %r12d, %r12d
	mov $7, %r15d
	call *%rbx
	test %rax, %rax
	js 1f
	pop %r15
	pop %r12
	pop %rbx
	ret
1:	add $8, %rsp
	pop %r12
	pop %rbx
	ret
end pushes

# Room first, and registers by moves.
function moves
	sub $0x1008, %rsp
	mov %rbp, 0x1000(%rsp)
	mov %r13, 0xff8(%rsp)
	mov $1, %ebp
	mov %rdi, %r13
	call *%r13
	vpxor %ymm1, %ymm0, %ymm0
	vzeroupper
	mov 0xff8(%rsp), %r13
	mov 0x1000(%rsp), %rbp
	add $0x1008, %rsp
	ret
end moves

function pointer
	push %rbp
	mov %rsp, %rbp
	push %rbx
	sub $0x48, %rsp
	mov %rdi, %rbx
	call *%rdi
	mov -8(%rbp), %rbx
	leave
	ret
end pointer

# The frame is aligned, and the stack pointer moves by a number that the code does not have.
function aligned
	push %rbp
	mov %rsp, %rbp
	push %r14
	mov %rdi, %r14
	and $-64, %rsp
	mov $0x80, %eax
	sub %rax, %rsp
	call *%r14
	lea -8(%rbp), %rsp
	pop %r14
	pop %rbp
	ret
end aligned

# rbp is a number here, and the stack pointer moves around the call.
function argument
	push %rbp
	mov $0x1234567, %ebp
	push $1
	push $2
	call *%rdi
	add $16, %rsp
	pushfq
	popfq
	pop %rbp
	ret
end argument

# A register is saved in another one, and in the red zone.
function elsewhere
	mov %rbx, %r9
	xor %ebx, %ebx
	mov %r12, -16(%rsp)
	xor %r12d, %r12d
	inc %rbx
	mov -16(%rsp), %r12
	mov %r9, %rbx
	ret
end elsewhere

function jumps
	sub $24, %rsp
	cmp $1, %esi
	lea table(%rip), %rax
	mov %esi, %esi
	cmp $2, %esi
	ja 3f
	movslq (%rax,%rsi,4), %rcx
	add %rax, %rcx
	jmp *%rcx
1:	call *%rdi
	jmp 3f
2:	push %rdi
	call *%rdi
	pop %rdi
3:	add $24, %rsp
	ret
end jumps

# Its last instruction before the next function is a call.
function tail
	push %r13
	mov %rdi, %r13
	call *%rdi
	mov %r13, %rdi
	pop %r13
	jmp pushes
end tail

	.section .rodata
	.balign 4
table:	.long 1b - table, 2b - table, 3b - table
	.section .note.GNU-stack, "", @progbits
