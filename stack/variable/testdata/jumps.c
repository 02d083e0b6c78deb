// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

#include <stdlib.h>

int each(int n, long step, int (*visit)(int));
int twice(int n, int (*visit)(int));

static __attribute__((noinline)) int inner(int i)
{
	if (i == 3)
		__builtin_trap();
	return i;
}

static __attribute__((noinline)) int outer(int i)
{
	return each(i + 5, 1, inner) + 1;
}

int main(int argc, char **argv)
{
	return twice(argc, outer) + 1;
}
