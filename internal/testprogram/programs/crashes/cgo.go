// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

// #include <signal.h>
// #include "../ready.h"
//
// static NOINLINE void fault_in_c(volatile int *p) { *p = 1; after(0); }
//
// static NOINLINE void rest_in_handler(int signal)
// {
//	ready();
//	for (;;)
//		after(pause());
// }
//
// static void handle(void)
// {
//	struct sigaction a = {.sa_handler = rest_in_handler, .sa_flags = SA_ONSTACK};
//	sigfillset(&a.sa_mask); // but that from which the program dies if its test did
//	sigdelset(&a.sa_mask, SIGALRM);
//	sigaction(SIGQUIT, &a, 0);
// }
import "C"

func init() {
	ways["C"] = func() { C.fault_in_c(nil) }
	// A handler of C's, on the stack that Go has for handlers.
	ways["handler"] = func() {
		C.handle()
		signal()
	}
}
