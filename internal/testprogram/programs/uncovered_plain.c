// C that is compiled without call frame information, for uncovered.c. With OPAQUE its
// code cannot be followed, because it jumps through a register.

extern volatile int sink;

// plain calls a function, and has a frame.
int plain(int (*f)(volatile int *), volatile int *p)
{
	volatile char space[200];
	space[sink & 1] = 1;
#if defined OPAQUE && defined __x86_64__
	__asm__ volatile("lea 1f(%%rip), %%rax\n\tjmp *%%rax\n1:" : : : "rax");
#endif
	return f(p) + sink++;
}

// waits is a leaf with variables on its stack.
int waits(volatile int *p)
{
	volatile int space[200];
	space[sink & 1] = 1;
	while (!*p)
		space[sink & 1]++;
	return space[0];
}
