// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Waits in a signal handler that has interrupted other code. The first argument
// selects the code. If the second is "altstack", the handler has an alternate
// stack; if it is "siginfo", it has a frame with siginfo_t:
//   read        a read from standard input, restarted after the handler
//   nanosleep   a sleep
//   loop        a loop without system calls
//   fault       the first instruction of a leaf function, which reads through a
//               null pointer: the address before it belongs to another function
//   null        a call of address 0: no rule for the interrupted address

#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ready.h"

NOINLINE void waiting(void)
{
	ready();
	for (;;)
		pause();
}

NOINLINE void handler(int signal)
{
	(void)signal;
	waiting();
	__asm__ volatile("");
}

NOINLINE long do_read(void)
{
	char byte;
	return after(read(0, &byte, 1));
}

NOINLINE long do_nanosleep(void)
{
	struct timespec t = {1000, 0};
	return after(nanosleep(&t, 0));
}

NOINLINE long do_loop(void)
{
	for (volatile long n = 0;; n++)
		;
}

NOINLINE long fault(const long *p)
{
	return *p;
}

NOINLINE long do_fault(void)
{
	return after(fault(0)) + 1;
}

NOINLINE long do_null(void)
{
	long (*volatile f)(void) = 0;
	return after(f()) + 1;
}

NOINLINE long interrupted(const char *what)
{
	if (!strcmp(what, "read"))
		return after(do_read());
	if (!strcmp(what, "nanosleep"))
		return after(do_nanosleep());
	if (!strcmp(what, "loop"))
		return after(do_loop());
	if (!strcmp(what, "fault"))
		return after(do_fault());
	if (!strcmp(what, "null"))
		return after(do_null());
	return 2;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	if (argc > 2 && !strcmp(argv[2], "altstack")) {
		stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
		sigaltstack(&stack, 0);
		action.sa_flags |= SA_ONSTACK;
	}
	if (argc > 2 && !strcmp(argv[2], "siginfo"))
		action.sa_flags |= SA_SIGINFO;
	sigaction(SIGUSR1, &action, 0);
	sigaction(SIGSEGV, &action, 0);

	// alarm and setitimer would take the SIGALRM that ready sets.
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec at = {.it_value = {0, 50000000}};
	timer_t timer;
	const char *what = argc > 1 ? argv[1] : "read";
	if (strcmp(what, "fault") && strcmp(what, "null")) {
		timer_create(CLOCK_MONOTONIC, &event, &timer);
		timer_settime(timer, 0, &at, 0);
	}
	return (int)after(interrupted(what));
}
