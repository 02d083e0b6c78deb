// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Computes forever, for three quarters of the time in three_quarters and for one in
// one_quarter. Both are called in a loop, which takes some ten microseconds for one
// iteration. A second thread sleeps.

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define SPIN(n) \
	for (unsigned i = 0; i < (n); i++) \
		__asm__ volatile("" ::: "memory")

enum { part = 5000 };

__attribute__((noinline)) static void three_quarters(void)
{
	SPIN(3 * part);
	__asm__ volatile("");
}

__attribute__((noinline)) static void one_quarter(void)
{
	SPIN(part);
	__asm__ volatile("");
}

static void *sleeps(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, 0, sleeps, 0);
	puts("ready");
	fflush(stdout);
	for (;;) {
		three_quarters();
		one_quarter();
	}
}
