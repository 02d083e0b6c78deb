// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Four nested functions that end in pause: the small stack for every way to
// build or place a program (static, static-pie, replaced on disk while it runs,
// in another mount namespace).

#include "ready.h"

NOINLINE long innermost(long n)
{
	ready();
	for (;;)
		pause();
	return n;
}

NOINLINE long inner(long n)  { return after(innermost(n + 1)) + n; }
NOINLINE long middle(long n) { return after(inner(n + 1)) + n; }
NOINLINE long outer(long n)  { return after(middle(n + 1)) + n; }

int main(void)
{
	return (int)after(outer(1));
}
