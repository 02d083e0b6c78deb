// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Threads that start and die all the time, at most 16 at once, beside one that
// stays.

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "ready.h"

NOINLINE long live(long depth)
{
	struct timespec t = {0, 200000};
	if (depth == 0)
		return after(nanosleep(&t, 0));
	return after(live(depth - 1)) + 1;
}

static void *run(void *argument)
{
	after(live((long)argument));
	return 0;
}

NOINLINE void churn(void)
{
	pthread_t threads[16];
	for (unsigned n = 0;; n++) {
		if (n >= 16)
			pthread_join(threads[n % 16], 0);
		if (pthread_create(&threads[n % 16], 0, run, (void *)(long)(n % 7)) != 0)
			abort();
		if (n == 100)
			ready();
	}
}

int main(void)
{
	churn();
}
