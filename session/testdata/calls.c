// Functions for call_test.go.

#include <stdarg.h>
#include <stdint.h>

// Each argument in a digit.
uint64_t words(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
	return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h;
}

double floats(double a, double b, double c, double d, double e, double f, double g, double h) {
	return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h;
}

float singles(float a, float b) { return a / b; }

double mixed(int a, double b, long c, float d, int64_t e) { return a + 10 * b + 100 * c + 1000 * d + 10000 * e; }

// Both registers of integer results.
struct pair {
	uint64_t first, second;
} pair(uint64_t a) { return (struct pair){~a, a << 60}; }

uint64_t variadic(int n, ...) {
	va_list list;
	uint64_t sum = 0;
	va_start(list, n);
	for (int i = 0; i < n; i++)
		sum = 10 * sum + (i % 2 ? (uint64_t)va_arg(list, double) : va_arg(list, uint64_t));
	va_end(list);
	return sum;
}

// The arguments' characters and their number; 0 where an array does not end.
int main(int argc, char **argv, char **envp) {
	int n = 0;
	for (int i = 0; i < argc; i++)
		for (char *c = argv[i]; *c; c++)
			n += *c;
	return argv[argc] || envp[0] ? 0 : n * 100 + argc;
}

// A vector that is on the stack faults unless that is aligned.
typedef int vector __attribute__((vector_size(16)));
int aligned(int a) {
	volatile vector v[2] = {{a, a, a, a}, {1, 2, 3, 4}};
	return v[0][3] + v[1][3] + (int)((uintptr_t)&v & 15);
}

__thread int counter = 40;
__thread char zeros[3000];
int count(void) { return ++counter + zeros[2999]++; }

int order;
__attribute__((constructor(102))) static void second(void) { order = 10 * order + 2; }
__attribute__((constructor(101))) static void first(void) { order = 10 * order + 1; }
int constructed(void) { return order; }

int global = 7;
int *address(void) { return &global; }
