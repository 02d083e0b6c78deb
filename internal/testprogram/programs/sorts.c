// Sorts with the C library's qsort and a callback, for ever.
#include <stdlib.h>
#include "ready.h"

static int list[1000];

NOINLINE static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	unsigned seed = 1;
	ready();
	for (;;) {
		for (int i = 0; i < 1000; i++)
			list[i] = (seed = seed * 1103515245 + 12345) >> 16;
		qsort(list, 1000, sizeof *list, compare);
	}
}
