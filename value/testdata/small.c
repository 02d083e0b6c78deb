// gcc -g -gdwarf-5 -O2 -nostdlib -static -no-pie -ffile-prefix-map=$PWD=. -Wl,--build-id=none -o small5.elf small.c
// gcc -g -gdwarf-4 -O1 -nostdlib -static -no-pie -ffile-prefix-map=$PWD=. -Wl,--build-id=none -o small4.elf small.c
enum color { RED, GREEN, BLUE };
struct point {
	int x, y;
	enum color color : 2;
	unsigned flags : 6;
	const char *name;
	struct point *next;
	int (*norm)(const struct point *);
};
static int manhattan(const struct point *p);
struct point last = {3, -4, BLUE, 5, "last", 0, manhattan};
struct point first = {1, 2, GREEN, 0, "first", &last, 0};
int numbers[12] = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
double ratio = 0.1;

static inline __attribute__((always_inline)) int absolute(int v)
{
	int sign = v < 0 ? -1 : 1;
	return v * sign;
}

static __attribute__((noinline)) int manhattan(const struct point *p)
{
	int sum = absolute(p->x);
	for (int i = 0; i < 2; i++) {
		struct { int a, b; } pair = {p->y, sum};
		sum += absolute(pair.a) + i;
	}
	return sum;
}

void _start(void)
{
	int n = last.norm(&first);
	char buffer[n];
	buffer[0] = (char)n;
	__asm__ volatile("" : : "r"(buffer) : "memory");
	numbers[0] = manhattan(&last) + buffer[0];
	for (;;)
		;
}
