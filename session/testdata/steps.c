/* What steps by line have to get right: see step_line_test.go. */

volatile int sink;

#define TWICE(x) do { use(x); use((x) + 1); } while (0)
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static __attribute__((noinline)) void use(int x) { sink += x; }

static __attribute__((noinline)) int one(int x) { return x + sink; }

static inline __attribute__((always_inline)) int square(int x)
{
	int y = x * x;
	use(y);
	return y + sink;
}

static inline __attribute__((always_inline)) int cube(int x)
{
	return square(x) * x;
}

__attribute__((noinline)) int factorial(int n)
{
	if (n < 2)
		return 1;
	return n * factorial(n - 1);
}

__attribute__((noinline)) int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__attribute__((noinline)) int even(int n);
__attribute__((noinline)) int odd(int n)
{
	if (n == 0)
		return 0;
	return even(n - 1);
}
int even(int n)
{
	if (n == 0)
		return 1;
	return odd(n - 1);
}

__attribute__((noinline)) int loops(int n)
{
	int total = 0;
	for (int i = 0; i < n; i++)
		total += i;
	for (int i = 0, j = n;
	     i < j;
	     i++, j--) {
		total += i * j;
		use(total);
	}
	while (n > 0) { use(n); n--; }
	do {
		total += one(n);
	} while (++n < 3);
	return total;
}

__attribute__((noinline)) int choose(int n)
{
	switch (n) {
	case 1:
		return one(n);
	case 2:
		use(n);
		break;
	case 3:
		use(3);
		/* falls through */
	case 4:
		use(4);
		break;
	default:
		return square(n);
	}
	return n;
}

__attribute__((noinline)) int calls(int n)
{
	int a = one(one(n) + one(n + 1)) + one(n);
	use(a); use(a + 1); use(a + 2);
	TWICE(a);
	TWICE(MAX(one(a), one(n)));
	return one(a) && one(n) ? one(1)
	                        : one(2);
}

__attribute__((noinline)) int inlines(int n)
{
	int a = square(n);
	int b = cube(n) + square(a);
	use(a + b);
	if (square(b) > 5)
		use(cube(2));
	return a + cube(b);
}

typedef int (*function)(int);
__attribute__((noinline)) int through(function f, int n)
{
	int r = f(n);
	return f(r & 3) + r;
}

__attribute__((noinline)) int tail(int n)
{
	use(n);
	return one(n + 1);
}

struct pair { long a, b, c, d, e; };
__attribute__((noinline)) struct pair pairs(int n)
{
	struct pair p = { n, n + 1 };
	p.c = p.a * p.b;
	return p;
}

static char from[5000], to[5000];
__attribute__((noinline)) int copies(int n)
{
	long count = sizeof from;
	char *source = from, *target = to;
#ifdef __x86_64__
	__asm__ volatile("rep movsb" : "+c"(count), "+S"(source), "+D"(target) : : "memory");
#else
	target[3] = source[count - 1];
#endif
	use(n);
	return to[3];
}

int main(int argc, char **argv)
{
	int r = factorial(argc + 3);
	r += fibonacci(4);
	r += even(3);
	r += loops(3);
	for (int i = 0; i < 6; i++)
		r += choose(i);
	r += calls(argc);
	r += inlines(argc);
	r += through(one, 3) + through(tail, 4);
	r += tail(r & 7);
	struct pair p = pairs(argc);
	r += p.c;
	r += copies(argc);
	sink = r;
	return r & 1;
}
