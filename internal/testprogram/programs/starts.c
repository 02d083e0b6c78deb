// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Starts processes that live for some milliseconds of processor time each: it executes itself. Arguments:
// the number of processes a second, and for how many seconds, 0 for no end.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static unsigned long work(int n)
{
	volatile unsigned long sum = 0;
	for (int i = 0; i < n * 100000; i++)
		sum += i;
	return sum;
}

// Different processes have different stacks.
__attribute__((noinline)) static unsigned long nested(int depth)
{
	return depth == 0 ? work(15) : nested(depth - 1) + 1;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return nested(argc > 1 ? atoi(argv[1]) : 0) == 0;
	long rate = atol(argv[1]), seconds = atol(argv[2]);
	struct timespec next;
	clock_gettime(CLOCK_MONOTONIC, &next);
	printf("ready\n");
	fflush(stdout);
	for (long n = 0; seconds == 0 || n < rate * seconds; n++) {
		pid_t child = vfork();
		if (child == 0) {
			char depth[] = {'0' + n % 10, 0};
			execl(argv[0], argv[0], depth, (char *)0);
			_exit(127);
		}
		next.tv_nsec += 1000000000L / rate;
		if (next.tv_nsec >= 1000000000L)
			next.tv_sec++, next.tv_nsec -= 1000000000L;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, 0);
		while (waitpid(-1, 0, WNOHANG) > 0)
			;
	}
	while (wait(0) > 0)
		;
	return 0;
}
