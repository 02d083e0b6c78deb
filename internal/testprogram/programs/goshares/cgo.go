// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build cgo

package main

/*
#cgo CFLAGS: -O2 -fno-omit-frame-pointer
long called(long n);

static __attribute__((noinline)) long spin(long n)
{
	long x = n;
	for (long i = 0; i < n; i++)
		x = x * 1103515245 + 12345 + (x >> 16);
	return x;
}

static __attribute__((noinline)) long calls(long n)
{
	long a = spin(20 * n), b = called(n);
	return a + b + spin(n);
}
*/
import "C"

//export called
func called(n C.long) C.long { return C.long(heavy(int(n))) }

func callC() {
	for {
		C.calls(10000)
	}
}
