// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// A fixed amount of work in each of some threads, with stacks of 10 to 40 calls. It prints the processor time
// that the work took, in nanoseconds. Arguments: the number of threads, and of repetitions. Build with
// -pthread.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static long repetitions;

__attribute__((noinline)) static unsigned long leaf(unsigned long n)
{
	volatile unsigned long sum = n;
	for (int i = 0; i < 20000; i++)
		sum += i;
	return sum;
}

__attribute__((noinline)) static unsigned long descend(unsigned long depth)
{
	return (depth == 0 ? leaf(depth) : descend(depth - 1)) + 1;
}

static void *run(void *unused)
{
	volatile unsigned long sum = 0;
	for (long i = 0; i < repetitions; i++)
		sum += descend(10 + i % 31);
	return unused;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	int n = atoi(argv[1]);
	repetitions = atol(argv[2]);
	pthread_t threads[64];
	for (int i = 0; i < n && i < 64; i++)
		if (pthread_create(&threads[i], 0, run, 0))
			return 1;
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(threads[i], 0);
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	printf("%ld\n", (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000L + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000L);
	return 0;
}
