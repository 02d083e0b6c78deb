// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command cgolabels calls spin, a function of C code, in a call of pprof.Do with the label route=c. A thread
// of C code, which no goroutine uses, runs alone.
package main

/*
#include <pthread.h>
#include <time.h>

// spin calls a function, so that it saves and changes the register of the frame pointer.
void spin(long seconds)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	for (long end = t.tv_sec + seconds; t.tv_sec < end; clock_gettime(CLOCK_MONOTONIC, &t))
		for (volatile int i = 0; i < 10000; i++)
			;
}

static void *alone(void *arg)
{
	for (;;)
		for (volatile int i = 0; i < 10000; i++)
			;
	return arg;
}

static void start(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, alone, NULL);
}
*/
import "C"

import (
	"context"
	"runtime/pprof"
)

func main() {
	C.start()
	pprof.Do(context.Background(), pprof.Labels("route", "c"), func(context.Context) { C.spin(1000) })
}
