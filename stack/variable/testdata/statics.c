/* gcc -g -o statics statics.c; names that gcc changes */
#include <stdlib.h>

static int numbers[3] = {1, 2, 3};

__attribute__((noinline)) static void last(int *count, int *number, int *member, void (*function)(int), void (*inner)(void))
{
	static int calls = 7;
	static int *self = &calls;
	calls += *count + *number;
	abort();
}

static void other(int by)
{
	static int count = 1;
	count += by;
}

__attribute__((noinline)) void call(int by)
{
	static int count = 5;
	static struct { int first, second; } pair = {3, 4};
	auto void nested(void);
	void nested(void) { count += by; }
	if (by) {
		static int count = 9;
		int local = by;
		static void (*function)(void);
		function = (void (*)(void))other;
		last(&count, &numbers[1], &pair.second, other, 0);
	}
	other(3);
	nested();
}

int main(int argc, char **argv) { call(argc); }
