// The program that the tests debug. They find lines by the words in capitals.

struct point {
	int x, y;
};

struct list {
	struct list *next;
	struct point at;
	char name[8];
	unsigned low : 4, high : 4;
};

struct list second = {0, {3, 4}, "two", 5, 6};
struct list first = {&second, {1, 2}, "one", 7, 8};
int numbers[1000];
static long counter;
volatile int stop;
const char *greeting = "grüße";

static inline __attribute__((always_inline)) int twice(int n)
{
	int doubled = n * 2;
	counter += doubled; // TWICE
	return doubled;
}

int fib(int n)
{
	if (n < 2) // FIB
		return n;
	return fib(n - 1) + fib(n - 2);
}

int sum(int count, struct list *list)
{
	int total = 0;
	double scale = 1.5;
	int *slot = &numbers[3];
	for (int i = 0; i < count; i++) {
		total += list->at.x; // LOOP
		numbers[i] = total;
	}
	total += twice(count); // CALL
	{
		int total = 17;
		counter += total + *slot + (int)scale; // INNER
	}
	return total; // END
}

int _ZN5space5twiceEi(int n) // as C++ calls space::twice(int)
{
	return 2 * n;
}
int (*doubling)(int) = _ZN5space5twiceEi;

int fault(int *p)
{
	counter++;
	return *p; // FAULT
}

int divide(int a, int b)
{
	return a / b; // DIVIDE
}

int forever(void)
{
	while (!stop)
		counter++; // FOREVER
	return 7;
}

__attribute__((noipa)) static int settle(int n)
{
	counter += n;
	return stop + n; // SETTLE
}

__attribute__((noipa)) static int passOn(int n)
{
	counter++;
	return settle(n * 2); // with -O2 a tail call
}

int relay(int n)
{
	return passOn(5) + n;
}

int main(int argc, char **argv)
{
	return argc; // MAIN
}
