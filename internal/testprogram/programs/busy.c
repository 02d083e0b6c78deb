// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// A program that never waits: it goes up and down a stack of frames of all kinds,
// interrupted by signals on a stack of their own. Some frames are realigned, some
// of unknown size; calls go through the PLT, and functions save any registers.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include "ready.h"

static volatile long sink;
static unsigned state = 1;

static unsigned next_random(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 16;
}

static long go_on(int depth, long a, long b, long c);

// gcc keeps the caller's stack pointer in r10 in such a function's prologue, and
// describes the frame by expressions.
static __attribute__((noinline)) long realigned(int depth, long a, long b, long c)
{
	_Alignas(64) volatile char buffer[128];
	char any[a % 50 + 1];
	memset(any, (int)b, sizeof any);
	buffer[a % 128] = any[0];
	long r = go_on(depth - 1, a + 1, b, c);
	return r + buffer[b % 128] + any[a % 50];
}

static __attribute__((noinline, target("avx"))) long vectors(int depth, long a, long b, long c)
{
	typedef double v4 __attribute__((vector_size(32)));
	volatile v4 v = {(double)a, (double)b, (double)c, 1};
	long r = go_on(depth - 1, a, b + 1, c);
	return r + (long)v[a & 3];
}

static __attribute__((noinline)) long sized(int depth, long a, long b, long c)
{
	char any[b % 90 + 1];
	memset(any, (int)a, sizeof any);
	return go_on(depth - 1, b, a, c) + any[b % 90];
}

static __attribute__((noinline)) long saves(int depth, long a, long b, long c)
{
	long d = a * b, e = b * c, f = a + c;
	long r = go_on(depth - 1, a, b, c + 1);
	return r + a + b + c + d + e + f;
}

static int compare(const void *a, const void *b)
{
	sink = go_on((int)(next_random() % 3), *(const int *)a, *(const int *)b, 3);
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) long sorts(int depth, long a, long b, long c)
{
	int list[6];
	for (int i = 0; i < 6; i++)
		list[i] = (int)(next_random() % 100);
	qsort(list, 6, sizeof list[0], compare);
	return go_on(depth - 1, a, b, c) + list[0];
}

static __attribute__((noinline)) long prints(int depth, long a, long b, long c)
{
	char text[100];
	snprintf(text, sizeof text, "%ld %f %s", a, (double)b, "text");
	return go_on(depth - 1, a, b, c) + atol(text);
}

static __attribute__((noinline)) long go_on(int depth, long a, long b, long c)
{
	if (depth <= 0)
		return a;
	switch (next_random() % 12) {
	case 0: case 1: return realigned(depth, a, b, c) + 1;
	case 2: return vectors(depth, a, b, c) + 2;
	case 3: case 4: return sized(depth, a, b, c) + 3;
	case 5: return sorts(depth - 2, a, b, c) + 4;
	case 6: return prints(depth, a, b, c) + 5;
	default: return saves(depth, a, b, c) + 6;
	}
}

static void on_signal(int signal)
{
	(void)signal;
	sink = go_on(8, 1, 2, 3);
}

int main(void)
{
	static char other[1 << 18];
	stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
	sigaltstack(&stack, NULL);
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
	sigaction(SIGVTALRM, &action, NULL);
	struct itimerval every = {{0, 1000}, {0, 1000}};
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	ready();
	for (;;)
		sink = go_on(24, 1, 2, 3);
}
