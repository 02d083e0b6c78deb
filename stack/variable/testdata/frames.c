// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// A chain of calls with parameters of every kind, which crashes at its end.

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

enum color { RED, GREEN = 5, BLUE };
enum flags { READ = 1, WRITE = 2, EXEC = 4 };
struct point { int x, y; };
struct node { struct node *next; const char *name; struct point at; double weight; };
union word { uint64_t whole; uint8_t bytes[8]; };
typedef int (*visitor)(struct node *, void *);
typedef unsigned long size;

volatile int sink;
int *volatile nowhere;
struct node list[3] = {
	{ &list[1], "first", { 1, 2 }, 0.5 },
	{ &list[2], "second", { 3, 4 }, 1.5 },
	{ NULL, "third", { 5, 6 }, 2.5 },
};
static const char *words[] = { "alpha", "beta", "gamma", NULL };

KEEP static int crash(int depth, double ratio, float half, const char *why)
{
	sink += depth + (int)(ratio * half);
	*nowhere = depth; // the end
	sink += strlen(why);
	return sink;
}

INLINE int check(int level, const char *what)
{
	if (level > 3)
		return crash(level, 2.5, 0.5f, what) + sink;
	return sink;
}

KEEP static int celsius(double f, int round)
{
	double c = (f - 32) * 5 / 9;
	int r = check((int)c + round, "too warm");
	sink += (int)(c + f);
	return r + 1;
}

KEEP static int unused(int a, int b, int c)
{
	(void)b;
	int r = celsius(98, 2);
	return r + sink;
}

KEEP static int narrow(char c, signed char s, unsigned char u, short h, unsigned short w, bool yes)
{
	sink += c + s;
	int r = unused(1, 2, 3);
	sink += u + h + w + yes;
	return r + 1;
}

KEEP static int wide(long l, unsigned long long ull, int64_t i64, size n)
{
	sink += (int)l;
	int r = narrow('c', -7, 200, -300, 60000, true);
	sink += (int)(ull + i64 + n);
	return r + 1;
}

KEEP static int enums(enum color c, enum flags f, enum color odd)
{
	sink += c;
	int r = wide(-5, 1ull << 40, INT64_MIN, sizeof(list));
	sink += f + odd;
	return r + 1;
}

INLINE int paint(enum color c) { return enums(c, READ | EXEC, (enum color)77) + 1; }
INLINE int twice(enum color c, int times) { return paint(c) * times; }

KEEP static int strings(const char *s, char *copy, const char **all, char (*room)[8])
{
	sink += s[0];
	int r = twice(BLUE, 2);
	sink += copy[0] + all[0][0] + (*room)[0];
	return r + 1;
}

KEEP static int structures(struct point p, struct node *n, union word w, struct node whole)
{
	sink += p.x;
	char copy[] = "a \"copy\"\n";
	char room[8] = "room";
	int r = strings(n->name, copy, words, &room);
	sink += w.bytes[0] + whole.at.y + copy[1] + room[1];
	return r + 1;
}

KEEP static int many(int a, int b, int c, int d, int e, int f, int g, int h, struct node *i)
{
	union word w = { .whole = 0x1122334455667788 };
	struct point p = { a, h };
	sink += a + b;
	int r = structures(p, i, w, *i);
	sink += c + d + e + f + g + h;
	return r + 1;
}

KEEP static int visit(struct node *n, void *arg)
{
	int *count = arg;
	++*count;
	if (n->next)
		return n->next->at.x;
	return many(*count, 2, 3, 4, 5, 6, 7, 8, n) + *count;
}

KEEP static int walk(struct node *n, visitor v, void *arg)
{
	int r = 0;
	for (struct node *at = n; at; at = at->next)
		r += v(at, arg);
	return r;
}

KEEP static int array(int n, int grid[n][2], const int numbers[3])
{
	int count = numbers[0];
	int r = walk(list, visit, &count);
	return r + grid[0][1] + numbers[1] + count;
}

KEEP static int recurse(int depth, const char *path)
{
	char here[32];
	snprintf(here, sizeof here, "%s/%d", path, depth);
	if (depth == 0) {
		int grid[2][2] = { { 1, 2 }, { 3, 4 } };
		int numbers[] = { 7, 8, 9 };
		return array(2, grid, numbers) + grid[1][1] + numbers[2];
	}
	int r = recurse(depth - 1, here);
	return r + here[0];
}

KEEP static int compare(const void *a, const void *b)
{
	const int *x = a, *y = b;
	if (*x + *y == 30)
		return recurse(3, "top") + *x;
	return *x - *y;
}

KEEP static int sort(int *numbers, size_t n, int (*by)(const void *, const void *))
{
	sink += by(&numbers[0], &numbers[1]);
	return numbers[n - 1] + sink;
}

KEEP static int tail(int n, const char *what) { return sort((int[]){ n, 2 * n, 3 * n }, 3, compare) + what[0]; }
KEEP static int jump(int n, const char *what) { sink++; return tail(n + 1, what); }
KEEP int outer(int n, _Complex float z, long double ld)
{
	int r = jump(n, "tail");
	sink += (int)ld + (int)__real__ z;
	return r + n;
}

int main(int argc, char **argv)
{
	int r = outer(argc + 8, 1.5f, 2.25L);
	return r + argv[0][0];
}
