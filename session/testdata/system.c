// System calls and loops for process_test.go.

// raw makes a system call. The instruction is at "call", the next at "after".
#if defined(__x86_64__)
__asm__(
	".globl raw, call, after\n"
	".type raw, @function\n"
	"raw:\n"
	".cfi_startproc\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	mov %rcx, %rdx\n"
	"	mov %r8, %r10\n"
	"	mov %r9, %r8\n"
	"	mov 8(%rsp), %r9\n"
	"call:\n"
	"	syscall\n"
	"after:\n"
	"	ret\n"
	".cfi_endproc\n"
	".size raw, . - raw\n");
#else
__asm__(
	".globl raw, call, after\n"
	".type raw, %function\n"
	"raw:\n"
	".cfi_startproc\n"
	"	mov x8, x0\n"
	"	mov x0, x1\n"
	"	mov x1, x2\n"
	"	mov x2, x3\n"
	"	mov x3, x4\n"
	"	mov x4, x5\n"
	"	mov x5, x6\n"
	"call:\n"
	"	svc 0\n"
	"after:\n"
	"	ret\n"
	".cfi_endproc\n"
	".size raw, . - raw\n");
#endif

volatile unsigned long turns;
volatile int stop;

// spin runs until stop is set.
unsigned long spin(void) {
	while (!stop)
		turns++;
	return turns;
}

unsigned long depth;

// recurse needs more stack than there is, with frames of different sizes.
int recurse(int n) {
	volatile char a[300];
	a[n % 300] = n;
	depth++;
	return n == 0 ? 0 : recurse(n - 1) + a[0];
}

int large(int n) {
	volatile char a[90000];
	a[0] = n;
	depth++;
	return n == 0 ? 0 : large(n - 1) + a[0];
}
