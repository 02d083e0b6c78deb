// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Every program calls ready when its stack is as the test expects. ready prints
// "ready", and makes the program exit even if its test has died.

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

// A call with its result as the argument of after is not a tail call.
static inline long after(long result)
{
	__asm__ volatile("" : "+r"(result));
	return result;
}

#endif
