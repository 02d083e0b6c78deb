// Thread-local variables, of every model (-ftls-model, -fPIC).
__thread int a = 41;
static __thread long b = 7;
static __thread char c[64] __attribute__((aligned(32)));
__thread int *p;
int plain = 3;
extern __thread int elsewhere; // of another file

__attribute__((noinline)) int *address(void) { return &a; }

__attribute__((noinline)) long both(int n) {
	c[n] += 2;
	b += n;
	return b + c[n];
}

long test(void) {
	*address() += 1;
	p = &plain;
	elsewhere++;
	return a * 10000 + both(3) * 100 + *p * 10 + elsewhere;
}
