// Functions that end with tail calls and leave no frame: chains, recursion, ambiguous ways.
#define HERE __asm__ volatile("nop" ::: "memory")
#define KEPT __attribute__((noinline, noipa))
struct request { int id; long amount; const char *name; };
typedef struct { long whole; int part; } total_t;
static struct request requests[3] = {{1, 100, "one"}, {2, 250, "two"}, {3, 30, "three"}};
static int stored, rejected;
static long sums[2];
KEPT static int store(struct request *r, int times)
{
	int n = r->id * times;
	stored += n;
	HERE; // STOP bt; bt 2; up; info args; info locals; print r; print *r; print limit; print stored; frame; list; up; info args; print r; down; down; print n; frame 1; frame 2; frame 3; frame 0; up 2; down 2; up 3; info locals; frame 0; finish
	stored++;
	return stored + n;
}
KEPT static int check(struct request *r, int limit)
{
	r->amount += limit;
	return store(r, limit + 1);
}
KEPT static int admit(struct request *r)
{
	r->id++;
	return check(r, 3);
}
KEPT static long add(struct request *r, long *to)
{
	*to += r->amount;
	HERE; // STOP bt; up; info args; info locals; print *r; print to; print sums; up; info args; print twice; frame 0; finish
	return *to;
}
KEPT static long merge(struct request *r, int at) { r->id--; return add(r, &sums[at]); }
KEPT static long left(struct request *r, int by) { r->amount += by; return merge(r, 0); }
KEPT static long right(struct request *r, int by) { r->amount -= by; return merge(r, 1); }
KEPT static long either(struct request *r, int twice)
{
	rejected++;
	if (twice)
		return left(r, 5);
	return right(r, 6);
}
KEPT static int countdown(int n, int *steps)
{
	++*steps;
	if (n == 0) {
		HERE; // STOP bt; info args; up; info locals; print steps; down; next; bt
		return *steps;
	}
	return countdown(n - 1, steps);
}
KEPT static int odd(unsigned n);
KEPT static int even(unsigned n)
{
	if (n == 0) {
		HERE; // STOP bt; up; info args; down; step; bt
		return 1;
	}
	return odd(n - 1);
}
KEPT static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
static int (*volatile through)(struct request *, int) = store;
KEPT static int indirect(struct request *r, int n) { r->id += n; return through(r, n); }
KEPT static total_t totals(struct request *r, int n);
static inline __attribute__((always_inline)) total_t shared(struct request *r, int n)
{
	r->id -= n;
	HERE; // STOP bt; up; info args; print *r; down; step; bt
	return totals(r, n + n);
}
KEPT static total_t totals(struct request *r, int n)
{
	total_t t = {r->amount * n, r->id};
	HERE; // STOP bt; up; info args; print *r; down; finish; print $.part; bt
	return t;
}
KEPT static total_t outside(struct request *r, int n)
{
	r->amount++;
	return shared(r, n * 3);
}
static inline __attribute__((always_inline)) int grow(struct request *r, int by)
{
	r->id += by;
	HERE; // STOP bt; up; info args; finish; bt
	return r->id * by;
}
KEPT static int grown(struct request *r, int n) { r->amount++; return grow(r, n + 1) + 1; }
KEPT static int growing(struct request *r) { return grown(r, 4); }
KEPT static int last(int a, int b)
{
	int c = a * b;
	HERE; // STOP bt; up; return; bt
	return c;
}
KEPT static int before(int a) { return last(a, a + 1); }
KEPT static int around(int a)
{
	int r = before(a);
	HERE; // STOP bt; info locals; print r; step; bt
	return r + a;
}
KEPT static int work(int n)
{
	int steps = 0;
	int first = admit(&requests[0]);
	long second = either(&requests[1], n & 1);
	int third = countdown(n, &steps);
	int fourth = even(n + 1);
	int fifth = indirect(&requests[2], n);
	total_t sixth = outside(&requests[2], n);
	fifth += growing(&requests[0]);
	int seventh = around(n);
	HERE; // STOP print first; print second; print third; print fourth; print fifth; print sixth; print seventh; print steps; print stored; print requests
	return first + second + third + fourth + fifth + sixth.part + seventh;
}
KEPT static int second_shift(int n) { return work(n) + stored; }
int run(int n) { return second_shift(n) + rejected; }
