// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Dies as its first argument says:
//   abort      calls abort
//   segv       writes through a null pointer
//   null       calls address 0
//   fpe        divides by zero
//   stack      recurses until the stack overflows
//   noreturn   calls abort as the last instruction of its function, so that the
//              return address belongs to the next one
//   thread     like segv, in a second thread
// Without an argument it waits, for a signal from outside.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "ready.h"

NOINLINE long do_abort(void)
{
	abort();
}

NOINLINE long do_segv(void)
{
	*(volatile int *volatile)0 = 1;
	return 0;
}

NOINLINE long do_null(void)
{
	long (*volatile f)(void) = 0;
	return after(f());
}

NOINLINE long do_fpe(void)
{
	volatile int dividend = 7, zero = 0;
	return dividend / zero;
}

NOINLINE long do_stack(long n)
{
	volatile char local[1024];
	local[0] = (char)n;
	return n < 0 ? n : after(do_stack(n + 1)) + local[0];
}

__attribute__((noinline, noipa, noreturn)) static void die(void)
{
	abort();
}

__attribute__((noinline, noipa, noreturn)) static void do_noreturn(void)
{
	die();
}

NOINLINE long comes_next(long n)
{
	return n * n;
}

static void *run(void *argument)
{
	after(do_segv());
	return argument;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	if (!strcmp(how, "abort"))
		return (int)after(do_abort());
	if (!strcmp(how, "segv"))
		return (int)after(do_segv());
	if (!strcmp(how, "null"))
		return (int)after(do_null());
	if (!strcmp(how, "fpe"))
		return (int)after(do_fpe());
	if (!strcmp(how, "stack"))
		return (int)after(do_stack(0));
	if (!strcmp(how, "noreturn"))
		do_noreturn();
	if (!strcmp(how, "thread")) {
		pthread_t thread;
		pthread_create(&thread, 0, run, 0);
		pthread_join(thread, 0);
	}
	ready();
	pause();
	return (int)comes_next(argc);
}
