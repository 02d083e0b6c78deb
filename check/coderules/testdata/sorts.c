// A program whose functions, with those of musl, have no call frame information.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char name[24];
	double weight;
};

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return x->weight < y->weight ? -1 : x->weight > y->weight ? 1 : strcmp(x->name, y->name);
}

static int kind(int n)
{
	switch (n % 7) {
	case 0: return abs(n - 5);
	case 1: return atoi("12") + n;
	case 2: return n << 3;
	case 3: return puts("three");
	case 4: return kind(n / 2) + 1;
	case 5: return (int)strlen("five") * n;
	default: return -n;
	}
}

int main(void)
{
	struct entry list[9];
	unsigned seed = 7;
	for (int i = 0; i < 9; i++) {
		seed = seed * 1103515245 + 12345;
		list[i].weight = kind(i) + (seed >> 16) % 10 / 4.0;
		snprintf(list[i].name, sizeof list[i].name, "%d %.2f", i, list[i].weight);
	}
	qsort(list, 9, sizeof *list, compare);
	char *copy = strdup(list[0].name);
	printf("%s %zu\n", copy, strlen(copy));
	free(copy);
	return 0;
}
