// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Two threads compute. The first calls itself until its stack has 40 KiB and then computes in deep, for as many
// milliseconds of processor time as the first argument says; then it returns and computes in shallow, for those of
// the second one. With a third argument it sleeps in nap, called by deep, for as many times 10 ms. The other thread computes in beside for as long. Prints the processor time of the
// first thread in nanoseconds.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "ready.h"

static volatile int ended;
static int naps;

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long compute(long until)
{
	long n = 0;

	while (now() < until)
		for (int i = 0; i < 10000; i++, n++)
			__asm__ volatile("" ::: "memory");
	return n;
}

NOINLINE long nap(void)
{
	for (int i = 0; i < naps; i++)
		usleep(10000);
	return after(naps);
}

NOINLINE long deep(long until)
{
	long n = compute(until);

	return after(n + nap());
}

NOINLINE long recurse(int depth, long until)
{
	char frame[480];

	__asm__ volatile("" : : "r"(frame) : "memory");
	return after(depth == 0 ? deep(until) : recurse(depth - 1, until));
}

NOINLINE long shallow(long until)
{
	return after(compute(until));
}

NOINLINE void *beside(void *unused)
{
	while (!ended)
		for (int i = 0; i < 10000; i++)
			__asm__ volatile("" ::: "memory");
	return unused;
}

NOINLINE void *first(void *argv)
{
	long until = atol(((char **)argv)[1]) * 1000000L;

	recurse(80, until);
	shallow(until + atol(((char **)argv)[2]) * 1000000L);
	printf("%ld\n", now());
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc < 3)
		return 2;
	naps = argc > 3 ? atoi(argv[3]) : 0;
	pthread_create(&threads[0], 0, first, argv);
	pthread_create(&threads[1], 0, beside, 0);
	pthread_join(threads[0], 0);
	ended = 1;
	pthread_join(threads[1], 0);
	return 0;
}
