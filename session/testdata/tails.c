// Functions that end with tail calls, in two files. Build with -O2 -g; NEAR is the one that
// calls through the other.

#define KEPT __attribute__((noinline, noipa))

int middle(int n, int *p);
int leaf(int n, int *p);
int again(int n);
int back(int n);

#ifdef NEAR

volatile int sink;

KEPT int leaf(int n, int *p)
{
	sink += *p;
	return n + sink; // LEAF
}

KEPT int first(int n, int *p)
{
	*p = n;
	return middle(n + 1, p);
}

KEPT int outer(int n)
{
	int k = n;
	int r = first(n, &k);
	return r + k + sink; // OUTER
}

KEPT int last(int n)
{
	static int cell;
	return first(n, &cell);
}

KEPT int direct(int n)
{
	int k = n;
	return leaf(n, &k) + k;
}

KEPT int deep(int n)
{
	if (n == 0)
		return outer(1);
	return deep(n - 1) + sink;
}

KEPT int again(int n)
{
	static int k = 1;
	if (leaf(sink, &k) > 10)
		return sink;
	return back(sink);
}

KEPT int starts(void)
{
	return again(7) + sink;
}

#else

KEPT int back(int n)
{
	return again(n + 100);
}

KEPT int middle(int n, int *p)
{
	*p += n;
	return leaf(n * 2, p);
}

#endif
