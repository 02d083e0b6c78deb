// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// 65 threads, each in a recursion of another depth (about 46 frames on average,
// 3,000 in all) and blocked in one of eight system calls.

#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include "ready.h"

enum { THREADS = 64, SHALLOWEST = 10 };

static pthread_barrier_t all_started;
static pthread_mutex_t never_free = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never_signalled = PTHREAD_COND_INITIALIZER;
static sem_t never_posted;
static int never_written[2]; // a pipe

// Some of these calls end with EINTR when a tracer stops the thread (signal(7),
// "Interruption of system calls ... by stop signals"): hence the loops.

NOINLINE void in_cond_wait(void)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&own);
	for (;;)
		pthread_cond_wait(&never_signalled, &own);
}

NOINLINE void in_mutex(void)
{
	for (;;)
		pthread_mutex_lock(&never_free);
}

NOINLINE void in_sem_wait(void)
{
	for (;;)
		sem_wait(&never_posted);
}

NOINLINE void in_nanosleep(void)
{
	struct timespec t = {1000, 0};
	for (;;)
		nanosleep(&t, 0);
}

NOINLINE void in_read(void)
{
	char byte;
	for (;;)
		after(read(never_written[0], &byte, 1));
}

NOINLINE void in_poll(void)
{
	struct pollfd p = {.fd = never_written[0], .events = POLLIN};
	for (;;)
		after(poll(&p, 1, -1));
}

NOINLINE void in_select(void)
{
	fd_set set;
	for (;;) {
		FD_ZERO(&set);
		FD_SET(never_written[0], &set);
		after(select(never_written[0] + 1, &set, 0, 0, 0));
	}
}

NOINLINE void in_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = epoll_create1(0);
	epoll_ctl(fd, EPOLL_CTL_ADD, never_written[0], &event);
	for (;;)
		after(epoll_wait(fd, &event, 1, -1));
}

static void (*const waits[])(void) = {
	in_cond_wait, in_mutex, in_sem_wait, in_nanosleep,
	in_read, in_poll, in_select, in_epoll,
};

NOINLINE long odd(long depth, long which);

NOINLINE long even(long depth, long which)
{
	volatile long local[6] = {depth};
	if (depth > 0)
		return after(odd(depth - 1, which)) + local[0];
	pthread_barrier_wait(&all_started);
	waits[which]();
	return local[0];
}

NOINLINE long odd(long depth, long which)
{
	volatile char local[100];
	local[0] = (char)depth;
	return after(even(depth - 1, which)) + local[0];
}

static void *run(void *argument)
{
	long i = (long)argument;
	char name[16];
	snprintf(name, sizeof name, "worker-%02ld", i);
	pthread_setname_np(pthread_self(), name);
	after(even((SHALLOWEST + i) / 2 * 2, i % 8));
	return 0;
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&all_started, 0, THREADS + 1);
	pthread_mutex_lock(&never_free);
	sem_init(&never_posted, 0, 0);
	if (pipe(never_written) != 0)
		return 1;
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], 0, run, (void *)i) != 0)
			return 1;
	pthread_barrier_wait(&all_started);
	ready();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], 0);
	return 0;
}
