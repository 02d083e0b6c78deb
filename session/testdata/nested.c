// Functions for nested_test.go.

// leaf keeps its argument below the stack pointer, where that is allowed, and in every register that
// calls may change. The instruction "inside" is in the middle. clobber changes all of these.
#if defined(__x86_64__)
__asm__(
	".globl leaf, inside, clobber\n"
	".type leaf, @function\n"
	"leaf:\n"
	".cfi_startproc\n"
	"	mov %rdi, -8(%rsp)\n"
	"	mov %rdi, -128(%rsp)\n"
	"	movq %rdi, %xmm0\n"
	"	movq %rdi, %xmm1\n"
	"	movdqa %xmm1, %xmm15\n"
	"	fld1\n"
	"	fldpi\n"
	"	mov %rdi, %rax\n"
	"	mov %rdi, %rdx\n"
	"	mov %rdi, %r11\n"
	"	stc\n"
	"inside:\n"
	"	adc $0, %rax\n" // the carry counts 1
	"	fstp %st(0)\n"
	"	fstp %st(0)\n"
	"	add -8(%rsp), %rax\n"
	"	add -128(%rsp), %rax\n"
	"	add %rdx, %rax\n"
	"	add %r11, %rax\n"
	"	movq %xmm15, %rcx\n"
	"	add %rcx, %rax\n"
	"	ret\n"
	".cfi_endproc\n"
	".size leaf, .-leaf\n"
	".type clobber, @function\n"
	"clobber:\n"
	".cfi_startproc\n"
	"	pcmpeqd %xmm0, %xmm0\n"
	"	pcmpeqd %xmm1, %xmm1\n"
	"	pcmpeqd %xmm15, %xmm15\n"
	"	fldz\n"
	"	push %rdi\n"
	"	pop %rax\n"
	"	xor %ecx, %ecx\n"
	"	xor %edx, %edx\n"
	"	xor %esi, %esi\n"
	"	xor %edi, %edi\n"
	"	xor %r8d, %r8d\n"
	"	xor %r9d, %r9d\n"
	"	xor %r10d, %r10d\n"
	"	xor %r11d, %r11d\n"
	"	ret\n"
	".cfi_endproc\n"
	".size clobber, .-clobber\n");
#elif defined(__aarch64__)
__asm__(
	".globl leaf, inside, clobber\n"
	".type leaf, %function\n"
	"leaf:\n"
	".cfi_startproc\n"
	"	fmov d0, x0\n"
	"	fmov d31, x0\n"
	"	mov x9, x0\n"
	"	mov x17, x0\n"
	"	cmp x0, x0\n" // sets the carry
	"inside:\n"
	"	adc x0, x0, xzr\n"
	"	add x0, x0, x9\n"
	"	add x0, x0, x9\n"
	"	add x0, x0, x9\n"
	"	add x0, x0, x17\n"
	"	fmov x10, d31\n"
	"	add x0, x0, x10\n"
	"	ret\n"
	".cfi_endproc\n"
	".size leaf, .-leaf\n"
	".type clobber, %function\n"
	"clobber:\n"
	".cfi_startproc\n"
	"	movi v0.2d, #0\n"
	"	movi v31.2d, #0\n"
	"	mov x1, #0\n"
	"	mov x9, #0\n"
	"	mov x17, #0\n"
	"	cmn x1, x1\n"
	"	ret\n"
	".cfi_endproc\n"
	".size clobber, .-clobber\n");
#endif

long leaf(long n);
long clobber(long n);

__attribute__((noinline)) long step(long n)
{
	long result = n + 1;
	result *= 2;
	return result;
}

__attribute__((noinline)) long middle(long n)
{
	long result = step(n);
	return result + 1;
}

__attribute__((noinline)) long outer(long n)
{
	long result = leaf(n);
	return result + n;
}

volatile long turns;
long forever(void)
{
	for (;;)
		turns++;
}

long load(long *p) { return *p; }

// Results in each register of results.
struct two { double x, y; };
struct two divided(double a, double b) { return (struct two){a / b, b / a}; }
#ifdef __x86_64__
long double longer(double a) { return a; }
#endif
long sum(long a, long b, long c, long d, long e, long f, long g, long h) { return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h; }

// overflow uses the whole stack.
long overflow(long n)
{
	volatile char frame[4096];
	frame[0] = (char)n;
	return overflow(n + 1) + frame[0];
}
