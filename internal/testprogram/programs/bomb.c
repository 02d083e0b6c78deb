// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Processes that fork twice each until there are 2^depth, all of which live at the same time. Then each
// works for some milliseconds of processor time. Arguments: the depth, and the milliseconds.

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "ready.h"

static long used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

NOINLINE long spin(long until)
{
	volatile long n = 0;
	while (used() < until)
		for (int i = 0; i < 1000; i++)
			n++;
	return after(n);
}

NOINLINE long explode(int depth, long limit)
{
	int forked = 0;
	for (; depth > 0; depth--) {
		pid_t child = fork();
		if (child < 0)
			exit(1);
		if (child == 0) {
			forked = 0;
			continue;
		}
		forked++;
	}
	long n = after(spin(used() + limit));
	for (int status; forked > 0; forked--)
		if (wait(&status) < 0 || status != 0)
			exit(1);
	return n;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	after(explode(atoi(argv[1]), atol(argv[2]) * 1000000));
	return 0;
}
