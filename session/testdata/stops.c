/* What ends steps by line early: see step_stop_test.go. */

static char zeros[20000000];

__attribute__((noinline)) int load(int *p)
{
	return *p;
}

__attribute__((noinline)) int fault(int *p)
{
	int n = 1;
	n += load(p);
	return n;
}

__attribute__((noinline)) int forever(int n)
{
	for (;;)
		n++;
	return n;
}

__attribute__((noinline)) int stuck(int n)
{
	n = forever(n);
	return n;
}
#ifdef __x86_64__ /* repetitions are its alone */
__attribute__((noinline)) int repeat(int n)
{
	long count = sizeof zeros;
	char *p = zeros;
	__asm__ volatile("cld; rep stosb" : "+c"(count), "+D"(p) : "a"(n) : "memory");
	return zeros[sizeof zeros - 1];
}
#endif
static void *jump[5];
__attribute__((noinline)) void leave(void)
{
	__builtin_longjmp(jump, 1);
}

__attribute__((noinline)) int jumps(int n)
{
	if (__builtin_setjmp(jump))
		return n + 40;
	leave();
	return n;
}

__attribute__((noinline)) int depth(int n)
{
	if (n == 0)
		return load(&n);
	return depth(n - 1) + 1;
}

__attribute__((noinline)) int calling(int n)
{
	for (;;) {
		n++;
		n += load(&n);
	}
	return n;
}

volatile int cell;

static inline __attribute__((always_inline)) int twice(int n)
{
	cell = n;
	return cell * 2;
}

int around(int n)
{
	int r = twice(n);
	return r + cell;
}

int inlining(int n) { return around(n) + 1; }
