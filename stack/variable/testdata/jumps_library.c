// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// A function with two names for its entry: one for other objects, and one for the
// library itself, as in glibc (hidden_def in include/libc-symbols.h).

int each(int n, long step, int (*visit)(int)) __asm__("own_each") __attribute__((visibility("hidden")));

static __attribute__((noinline)) int each_from(int n, long step, int (*visit)(int), int start)
{
	int sum = 0;
	for (int i = start; i < n; i += step)
		sum += visit(i);
	return sum;
}

int each(int n, long step, int (*visit)(int))
{
	return each_from(n, step, visit, 1); // jumps
}
extern __typeof(each) public_each __asm__("each") __attribute__((alias("own_each")));

int twice(int n, int (*visit)(int))
{
	return each(2 * n, 2, visit); // jumps
}
