/* What debuggers are tried on in a session: gcc -g -O0 -c target.c */

typedef struct point { int x, y; } point;

int counter;
char text[] = "some text";
volatile int go_on = 1;
point where = {3, 4};
int *nowhere = 0;
int somewhere = 77;

int fib(int n)
{
	if (n < 2)
		return n;
	int a = fib(n - 1);
	int b = fib(n - 2);
	return a + b;
}

int add(int a, int b)
{
	int sum = a + b;
	return sum;
}

int loop(int n)
{
	int total = 0;
	for (int i = 0; i < n; i++) {
		total = add(total, i);
		counter = total;
	}
	return total;
}

int spin(int n)
{
	while (go_on)
		n++;
	return 5;
}

int fault(int n)
{
	int v = *nowhere;
	return v + n;
}

int leave(int n)
{
#ifdef __x86_64__
	register long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(231L), "D"((long)n) : "rcx", "r11", "memory");
#else
	register long number __asm__("x8") = 94, result __asm__("x0") = n;
	__asm__ volatile("svc 0" : "+r"(result) : "r"(number) : "memory");
#endif
	return (int)result;
}

double half(double d)
{
	double h = d / 2;
	return h;
}
