// The source of the .elf files beside this one; "make.sh" is how they were made.
static inline __attribute__((always_inline)) int square(int x) { return x * x; }
int sum(int n)
{
	int total = 0;
	for (int i = 0; i < n; i++)
		total += square(i + total);
	return total;
}
int _start(int n) { return sum(n) + square(n); }
