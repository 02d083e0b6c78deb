// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command gocalls runs Go code that calls C code without frame pointers, which calls Go code again.
// Two callers take turns. Each leads through functions of its own in both languages, so a stack with
// functions of both callers is wrong. The arguments are the kind of calls, the microseconds that the
// inner function of each call runs, and the milliseconds that the program runs (0: forever).
package main

/*
#cgo CFLAGS: -O2 -fomit-frame-pointer
long goA(long n);
long goB(long n);

// Code without frame pointers may use the register for anything.
#if defined(__x86_64__)
#define CLOBBER(x, n) __asm__ volatile("lea " #n "(%1),%%rbp\n\tmov %%rbp,%0" : "=r"(x) : "r"(x) : "rbp")
#else
#define CLOBBER(x, n) __asm__ volatile("// " #n : "+r"(x))
#endif

static __attribute__((noinline)) long inA(long n)
{
	long x = n;
	for (long i = 0; i < n; i++)
		CLOBBER(x, 1);
	return x;
}

static __attribute__((noinline)) long inB(long n)
{
	long x = n;
	for (long i = 0; i < n; i++)
		CLOBBER(x, 2);
	return x;
}

static __attribute__((noinline)) long viaA(long n)
{
	long x = n;
	CLOBBER(x, 1);
	return goA(n) + x;
}

static __attribute__((noinline)) long viaB(long n)
{
	long x = n;
	CLOBBER(x, 2);
	return goB(n) + x;
}

// shared is what both callers call.
static __attribute__((noinline)) long shared(long kind, long n)
{
	switch (kind) {
	case 0: return inA(n) + 1;
	case 1: return inB(n) + 1;
	case 2: return viaA(n) + 1;
	case 3: return viaB(n) + 1;
	case 4: return viaA(-n) + 1;
	default: return viaB(-n) + 1;
	}
}
*/
import "C"

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"time"
)

// kinds are the numbers of the kinds of calls by the first caller.
var kinds = map[string]C.long{
	"c":    0, // the inner function is in C
	"go":   2, // it is in Go, which C has called
	"deep": 4, // it is in C, which Go has called, which C has called
}

//go:noinline
func callA(kind, n C.long) C.long { return C.shared(kind, n) }

//go:noinline
func callB(kind, n C.long) C.long { return C.shared(kind+1, n) }

//export goA
func goA(n C.long) C.long {
	if n < 0 {
		return backA(-n)
	}
	return spinA(n)
}

//export goB
func goB(n C.long) C.long {
	if n < 0 {
		return backB(-n)
	}
	return spinB(n)
}

//go:noinline
func backA(n C.long) C.long { return C.shared(0, n) }

//go:noinline
func backB(n C.long) C.long { return C.shared(1, n) }

//go:noinline
func spinA(n C.long) (x C.long) {
	for i := range n {
		x += i ^ x
	}
	return x
}

//go:noinline
func spinB(n C.long) (x C.long) {
	for i := range n {
		x += i ^ x
	}
	return x
}

// count returns how often the inner function must loop to run for a time.
func count(kind C.long, d time.Duration) C.long {
	const n = 1 << 21
	fastest := time.Duration(math.MaxInt64)
	for range 20 {
		start := time.Now()
		callA(kind, n)
		fastest = min(fastest, time.Since(start))
	}
	return C.long(n * float64(d) / float64(fastest))
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: gocalls KIND MICROSECONDS MILLISECONDS")
		os.Exit(2)
	}
	kind := kinds[os.Args[1]]
	microseconds, _ := strconv.Atoi(os.Args[2])
	limit, _ := strconv.Atoi(os.Args[3])
	n := count(kind, time.Duration(microseconds)*time.Microsecond)
	fmt.Println("ready")
	for start := time.Now(); limit == 0 || time.Since(start) < time.Duration(limit)*time.Millisecond; {
		callA(kind, n)
		callB(kind, n)
	}
}
