// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

// Library exported is Go for a C program, calls.c: functions that return, wait, or call
// C again.
package main

// #include "../ready.h"
//
// typedef void (*function)(void);
// static inline void call(function f) { f(); }
// static inline void rest(void) { pause(); }
import "C"

// Nothing else is imported: all of it is compiled once more for a library.

//export Pass
func Pass() {}

var never = make(chan bool)

// Wait has so many arguments and results that C's side of it has a larger frame than
// those of Pass and Call.
//
//export Wait
//go:noinline
func Wait(a, b, c, d, e, f, g, h C.long) (i, j C.long) {
	C.ready()
	<-never
	return a + b + c + d, e + f + g + h
}

// Rest waits in C.
//
//export Rest
//go:noinline
func Rest(a, b, c, d, e, f, g, h C.long) (i, j C.long) {
	C.ready()
	C.rest()
	return a + b + c + d, e + f + g + h
}

// Call calls C.
//
//export Call
//go:noinline
func Call(f C.function) { C.call(f) }

func main() {}
