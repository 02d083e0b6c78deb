// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Functions with tail calls, which therefore have no frame, lead to a function that
// waits: "chain" (one way leads there), "ambiguous" (two, with the same last
// call), "indirect" (by a pointer), "several" (many ways), "twice" (after calls
// that return). Build with -O2 -g.

#include <string.h>

#include "ready.h"

#define KEPT __attribute__((noinline))

volatile int sink, ended;

KEPT int waiting(int n)
{
	sink += n;
	ready();
	while (!ended) // the compiler cannot know its value
		pause();
	return sink;
}

KEPT int linked(int n)  { sink += n; return waiting(n + 1); }
KEPT int chained(int n) { sink += n; return linked(n + 2); }

KEPT int last(int n)  { sink ^= n; return waiting(n + 3); }
KEPT int left(int n)  { sink += n; return last(n + 4); }
KEPT int right(int n) { sink -= n; return last(n + 5); }

KEPT int ambiguous(int n)
{
	sink += n;
	if (n & 1)
		return left(n + 6);
	return right(n + 7);
}

int (*volatile through)(int) = waiting;

KEPT int indirect(int n)  { sink += n; return through(n + 8); }
// Nothing calls it, but Clew reads it.
KEPT int elsewhere(int n) { sink += n; return isatty(n + 9); }

KEPT int several(int n)
{
	sink += n;
	if (n & 1)
		return ambiguous(n);
	return n > 8 ? linked(n) : chained(n * 2);
}

KEPT int twice(int n)
{
	int r = chained(n);
	sink++;
	r += ambiguous(n + r);
	sink++;
	return r;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "chain";
	long r = 0;
	if (strcmp(how, "chain") == 0)
		r = after(chained(argc));
	else if (strcmp(how, "ambiguous") == 0)
		r = after(ambiguous(argc));
	else if (strcmp(how, "indirect") == 0)
		r = after(indirect(argc));
	else if (strcmp(how, "several") == 0)
		r = after(several(argc));
	else if (strcmp(how, "twice") == 0)
		r = after(twice(argc));
	return (int)r;
}
