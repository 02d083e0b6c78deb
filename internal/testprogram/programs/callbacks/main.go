// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

// Command callbacks stands still in C code that Go called, from a function that C
// code called, qsort, that Go called: twice. It says before what runtime.Callers
// knows of the goroutine's stack. Another goroutine waits for a channel in a function
// that C code called.
package main

// #include <stdlib.h>
// #include <unistd.h>
//
// extern int goCompare(void *, void *);
// extern void goWait(void);
//
// static int compare(const void *a, const void *b) { return goCompare((void *)a, (void *)b); }
//
// static __attribute__((noinline)) int sort(int *values, int n)
// {
//	int volatile space[n]; // makes it keep a frame pointer
//	space[0] = 0;
//	qsort(values, n, sizeof *values, compare);
//	return space[0];
// }
//
// static __attribute__((noinline)) int wait(void)
// {
//	int volatile woken = 0;
//	for (;;)
//		woken += pause();
//	return woken;
// }
//
// static __attribute__((noinline)) void through(void)
// {
//	int volatile returned = 0;
//	goWait();
//	returned++;
// }
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

var level int

//go:noinline
func sort() {
	values := []C.int{2, 1}
	C.sort(&values[0], 2)
}

//export goCompare
func goCompare(a, b unsafe.Pointer) C.int {
	if level++; level < 2 {
		sort()
	}
	say()
	C.wait()
	return 0
}

var waits, never = make(chan bool), make(chan bool)

//export goWait
//go:noinline
func goWait() {
	waits <- true
	<-never
}

//go:noinline
func through() { C.through() }

func say() {
	var text strings.Builder
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		fmt.Fprintf(&text, "function %s\n", f.Function)
	}
	fmt.Print(text.String() + "ready\n")
}

func main() {
	runtime.LockOSThread()
	// The program must not outlive a test that died.
	time.AfterFunc(10*time.Minute, func() { os.Exit(1) })
	go through()
	<-waits
	sort()
}
