/* A constructor, and a function that exits. */
#include <stdlib.h>

static int base;

__attribute__((constructor)) static void begin(void)
{
	base = 41;
}

int get(int n)
{
	return base + n;
}

int leave(int code)
{
	exit(code);
}
