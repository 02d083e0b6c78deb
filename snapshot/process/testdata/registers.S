// Sets the general registers to distinct values and makes a blocking system
// call: with argument -m32 for i386, without for x86-64. With -DFAULT it
// faults at its first instruction.
	.globl _start
_start:
#ifdef FAULT
	ud2
#endif
#ifdef __x86_64__
	mov $0x6262626262, %rbx
	mov $0x6262626206, %rbp
	mov $0x6262626208, %r8
	mov $0x6262626209, %r9
	mov $0x6262626212, %r12
	mov $0x6262626213, %r13
	mov $0x6262626214, %r14
	mov $0x6262626215, %r15
	// ppoll(NULL, 0, NULL, NULL)
	push $0x77
	xor %edi, %edi
	xor %esi, %esi
	xor %edx, %edx
	xor %r10d, %r10d
	mov $271, %eax
	syscall
#else
	mov $0x33333333, %edx
	mov $0x11111111, %esi
	mov $0x66666666, %edi
	mov $0x55555555, %ebp
	xor %ebx, %ebx
	xor %ecx, %ecx
	push $0x77
	mov $29, %eax	// pause
	int $0x80
#endif
after:
	jmp after
