// A bit of everything that one file needs to be called.
#include <stddef.h>
#include <stdint.h>

extern int host_add(int a, int b);     // resolved by the loader
extern int optional(void) __attribute__((weak));

int counter = 5;
int zeroed[100];
#ifdef COMMON
int tentative[3]; // with -fcommon
#endif
const char message[] = "hello";
static const char *const words[] = {"zero", "one", "two", message};
static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
int (*const functions[])(int) = {twice, thrice, twice};
int (*pointer)(int, int) = host_add;

__attribute__((constructor)) static void prepare(void) { zeroed[7] = 7; }

__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((noinline)) int choose(int n) {
	switch (n) { // a jump table
	case 0: return counter;
	case 1: return fib(10);
	case 2: return zeroed[7];
	case 3: return words[1][0];
	case 4: return functions[1](14);
	case 5: return host_add(40, 2);
	case 6: return pointer(1, 2);
	case 7: return optional ? optional() : -1;
	}
	return 1000;
}

int computed(int n) {
	static void *const labels[] = {&&a, &&b, &&c};
	if (n < 0 || n > 2)
		return -1;
	goto *labels[n];
a:
	return 11;
b:
	counter++;
	return 22;
c:
	return 33;
}

double average(const double *v, size_t n) {
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / n : 0.5;
}

long test(void) {
	static const double numbers[] = {1.5, 2.5, 3.5, 4.5};
	long sum = 0;
	for (int i = 0; i <= 8; i++)
		sum = sum * 7 + choose(i);
	for (int i = -1; i <= 3; i++)
		sum = sum * 5 + computed(i);
	return sum + (long)(average(numbers, 4) * 100);
}
