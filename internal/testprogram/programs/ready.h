// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// What every program here does once its stack is as a test wants it: says so
// on standard output, and makes sure that it dies even if its test did.

#ifndef READY_H
#define READY_H

#include <unistd.h>

static inline void ready(void)
{
	alarm(600);
	if (write(1, "ready\n", 6) != 6)
		_exit(1);
}

#define NOINLINE __attribute__((noinline, noipa))

// A call whose result passes through here is no tail call.
static inline long after(long result)
{
	__asm__ volatile("" : "+r"(result));
	return result;
}

#endif
