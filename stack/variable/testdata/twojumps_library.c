// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Its arguments are known only at its entry: the call site describes those of another
// function, and which of two jumps led here is unknown.
static __attribute__((noinline)) int lost(int n, int (*visit)(void))
{
	static volatile int last;
	last = n;
	return visit() + 1;
}

int over(int n, int (*visit)(void))
{
	if (n > 5)
		return lost(n * 3, visit); // jumps
	return lost(n + 1, visit); // jumps
}
