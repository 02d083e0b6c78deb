// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Threads that spend three quarters of their processor time in heavy() and a quarter in
// light(), by the kernel's clock. Arguments: the number of threads, and milliseconds of
// processor time for each, 0 for no end. With a third argument it first forks a
// child that does the same, and then executes itself without the argument. Build with -pthread.

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include "ready.h"

static long limit;

static long used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

NOINLINE long count(long until)
{
	volatile long n = 0;
	while (used() < until)
		for (int i = 0; i < 2000; i++)
			n++;
	return n;
}

NOINLINE long heavy(long until) { return after(count(until)) + 1; }
NOINLINE long light(long until) { return after(count(until)) + 2; }

static void *worker(void *unused)
{
	long begin = used(), slice = 1370000; // not in step with usual frequencies
	for (long at = begin; !limit || at - begin < limit; at += 4 * slice) {
		heavy(at + 3 * slice);
		light(at + 4 * slice);
	}
	return unused;
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	limit = atol(argv[2]) * 1000000;
	pid_t child = argc > 3 ? fork() : 0;
	pthread_t threads[64];
	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&threads[i], 0, worker, 0);
	ready();
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(threads[i], 0);
	if (child > 0) {
		waitpid(child, 0, 0);
		execl(argv[0], argv[0], argv[1], argv[2], (char *)0);
	}
	return 0;
}
