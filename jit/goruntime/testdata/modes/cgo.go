// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"io"
	"runtime/pprof"

	_ "github.com/clewdev/clew/cgotraceback"
)

// static unsigned long work(unsigned long n) {
// 	unsigned long x = 1;
// 	for (; n; n--)
// 		x = x * 6364136223846793005 + 1;
// 	return x;
// }
import "C"

// beside calls C with a profile running: the signals come while generated code is on the stack of the
// goroutine, and its thread is in C.
func beside() {
	if pprof.StartCPUProfile(io.Discard) == nil {
		C.work(5_000_000)
		pprof.StopCPUProfile()
	}
}

//export run_in_library
func run_in_library() { run(beside) }
