// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// A recursion as deep as the first argument says, 100,000 calls without one, on
// a thread with a large enough stack. Build with -O2.

#include <pthread.h>
#include <stdlib.h>
#include "ready.h"

NOINLINE long recurse(long depth)
{
	if (depth == 0) {
		ready();
		for (;;)
			pause();
	}
	return after(recurse(depth - 1)) + depth;
}

NOINLINE void *run(void *depth)
{
	return (void *)after(recurse((long)depth));
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 20);
	pthread_create(&thread, &attributes, run, (void *)(argc > 1 ? atol(argv[1]) : 100000));
	return pthread_join(thread, 0);
}
