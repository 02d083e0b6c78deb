// A chain of calls with parameters of sixteen bytes in vector registers, which the call
// sites describe. It crashes at its end.

typedef float vector __attribute__((vector_size(16)));

volatile _Float128 quad;
volatile long double extended;
volatile double sink;
volatile vector lanes;
int *volatile nowhere;

__attribute__((noinline)) void last(_Float128 q, int n)
{
	quad = q;
	*nowhere = n; // the end
}

__attribute__((noinline)) void both(_Float128 q, long double d, _Float128 r, int n)
{
	quad = q + r;
	extended = d;
	last(2.5Q, n);
	quad = 0;
}

__attribute__((noinline)) void vectors(vector v, int n)
{
	lanes = v;
	both(-0.125Q, 1.25L, 1e4000Q, n + 1);
	sink = n;
}

__attribute__((noinline)) void mixed(double d, float f, _Float128 q, int n)
{
	sink = d + f;
	quad = q;
	vectors((vector){ 1, 2, 3, 4 }, n);
	sink = 0;
}

int main(int argc, char **argv)
{
	mixed(0.5, 0.25f, 3, argc);
	return 0;
}
