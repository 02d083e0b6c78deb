// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Run by lli: code that LLVM generates waits five calls deep; with -DSPIN it
// spins. clang knows not all attributes of the other programs.

#include "ready.h"

static __attribute__((noinline)) void spin(void)
{
	ready();
	for (;;)
		__asm__ volatile("");
}

static __attribute__((noinline)) long deep(long n)
{
	if (n == 0) {
#ifdef SPIN
		spin();
#endif
		ready();
		for (;;)
			pause();
	}
	return after(deep(n - 1)) + n;
}

int main(void)
{
	return (int)after(deep(5));
}
