// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Sorts at the end of recursions of some sixty calls. The argument is the number
// of repetitions.

#include <stdlib.h>
#include <string.h>

volatile unsigned long sink;

static int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	for (volatile int i = 0; i < 20; i++)
		sink += i;
	return x < y ? -1 : x > y;
}

__attribute__((noinline)) unsigned long work(int n)
{
	unsigned v[512];
	for (int i = 0; i < 512; i++)
		v[i] = (i * 2654435761u) ^ n;
	qsort(v, 512, sizeof *v, compare);
	return v[n & 511];
}

__attribute__((noinline)) unsigned long descend(int n)
{
	char pad[64];
	memset(pad, n, sizeof pad);
	unsigned long r = n ? descend(n - 1) + pad[3] : work(n);
	sink += r;
	return r + pad[5];
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	for (long i = 0; i < n; i++)
		sink += descend(60 + i % 10);
	return 0;
}
