// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Loops in clock_gettime, most of the time in the vDSO.

#include <time.h>
#include "ready.h"

NOINLINE long spin(void)
{
	struct timespec t;
	long sum = 0;
	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		sum += t.tv_nsec;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

int main(void)
{
	ready();
	return (int)after(spin());
}
