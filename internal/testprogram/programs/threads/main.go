// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

// Command threads has as many threads as its argument says, besides those of the
// runtime. In each, a goroutine waits in a system call, at different depths of a
// recursion.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

//go:noinline
func recurse(depth, fd int) int {
	var local [8]int
	local[depth%8] = depth
	if depth == 0 {
		read(fd)
		return local[0]
	}
	return recurse(depth-1, fd) + local[depth%8]
}

var reading atomic.Int32

//go:noinline
func read(fd int) {
	var b [16]byte
	reading.Add(1)
	syscall.Read(fd, b[:])
}

func main() {
	// The program must not outlive a test that died.
	time.AfterFunc(10*time.Minute, func() { os.Exit(1) })

	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	for i := range n {
		go recurse(i%64, pipe[0])
	}
	for int(reading.Load()) < n {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("ready")
	recurse(8, pipe[0])
}
