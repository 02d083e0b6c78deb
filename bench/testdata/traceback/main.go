// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Traceback measures walks through 20 frames of C in a signal handler: by the package's traceback
// function, or by libgcc's _Unwind_Backtrace in the same way as cgosymbolizer calls it. With
// the tag cgosymbolizer it measures that package's function instead of Clew's. With the argument
// tables it loads libraries, and measures how long Clew takes to prepare their tables.
package main

/*
#cgo CFLAGS: -O2 -g
#cgo cgosymbolizer CFLAGS: -DCGOSYMBOLIZER
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
double walks(int libgcc, int *frames);
*/
import "C"

import (
	"fmt"
	"os"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: traceback package|libgcc|tables [LIBRARY ...]")
		os.Exit(2)
	}
	prepare()
	if os.Args[1] == "tables" {
		for _, path := range os.Args[2:] {
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
	libgcc := C.int(0)
	if os.Args[1] == "libgcc" {
		libgcc = 1
	}
	var frames C.int
	fmt.Printf("%.1f ns\n", float64(C.walks(libgcc, &frames)))
	if frames != 20 {
		fmt.Fprintln(os.Stderr, frames, "frames, want 20")
		os.Exit(1)
	}
}
