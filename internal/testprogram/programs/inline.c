// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Inlined calls four deep, the innermost of which calls a real function that
// waits. Build with -O2 -g.

#include "ready.h"

#define INLINE static inline __attribute__((always_inline))

NOINLINE void waiting(void)
{
	ready();
	for (;;)
		pause();
}

INLINE int fourth(int x)
{
	waiting();
	return x * 3;
}

INLINE int third(int x)
{
	return fourth(x + 1) + x;
}

INLINE int second(int x)
{
	return third(x + 1) ^ x;
}

INLINE int first(int x)
{
	return second(x + 1) - x;
}

NOINLINE int container(int x)
{
	return first(x) + first(x * 2); // two copies of each
}

int main(int argc, char **argv)
{
	(void)argv;
	return (int)after(container(argc));
}
