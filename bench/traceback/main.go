// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Traceback measures walks through 20 frames of C in a signal handler by Clew's traceback function,
// or by that of cgosymbolizer if it is built with that tag. With names of libraries it loads them,
// and measures how long Clew takes to prepare their tables.
package main

/*
#cgo CFLAGS: -O2 -g
#cgo cgosymbolizer CFLAGS: -DCGOSYMBOLIZER
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
double walks(int *frames);
*/
import "C"

import (
	"fmt"
	"os"
	"time"
)

func main() {
	prepare()
	if len(os.Args) > 1 {
		for _, path := range os.Args[1:] {
			name := C.CString(path)
			if C.dlopen(name, C.RTLD_LAZY) == nil {
				fmt.Fprintln(os.Stderr, path+": cannot be loaded")
				os.Exit(1)
			}
		}
		start := time.Now()
		prepare()
		fmt.Printf("%d ns\n", time.Since(start).Nanoseconds())
		return
	}
	var frames C.int
	fmt.Printf("%.1f ns\n", float64(C.walks(&frames)))
	if frames < 20 {
		fmt.Fprintln(os.Stderr, frames, "frames, want at least 20")
		os.Exit(1)
	}
}
