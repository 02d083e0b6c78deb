// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

// Command goroutines stands still with a deep recursion on its main goroutine,
// several goroutines blocked in channels, a lock and a timer, and one that
// owns its thread and is blocked in a system call below nested functions.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

//go:noinline
func recurse(depth int, wait func()) int {
	var local [8]int
	local[depth%8] = depth
	if depth == 0 {
		wait()
		return local[0]
	}
	return recurse(depth-1, wait) + local[depth%8]
}

//go:noinline
func outer(fd int) int { return middle(fd) + 1 }

//go:noinline
func middle(fd int) int { return inner(fd) + 2 }

//go:noinline
func inner(fd int) int {
	var buffer [16]byte
	n, _ := syscall.Read(fd, buffer[:])
	return n
}

func main() {
	// The program must not outlive a test that died.
	time.AfterFunc(10*time.Minute, func() { os.Exit(1) })

	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	locked := make(chan int)
	go func() {
		runtime.LockOSThread()
		locked <- syscall.Gettid()
		outer(pipe[0])
	}()
	tid := <-locked

	never := make(chan struct{})
	var mutex sync.Mutex
	mutex.Lock()
	go recurse(3, func() { <-never })
	go recurse(5, func() { mutex.Lock() })
	go recurse(7, func() { time.Sleep(time.Hour) })

	fmt.Printf("ready\nlocked thread %d\n", tid)
	recurse(40, func() { <-never })
	mutex.Unlock()
}
