// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

// Command oneprocessor has one processor for all its goroutines, and one of them keeps it
// forever, so that runnable goroutines never run. It prints "ready" when this is the case.
// On SIGQUIT the runtime prints all goroutines.
package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

var (
	begin atomic.Bool // a goroutine may keep the processor
	first atomic.Bool // a goroutine keeps it
	ready = []byte("ready\n")

	reading, called atomic.Int32
)

// keep keeps the processor, in the first goroutine that calls it. After the loop it calls no
// function that could yield the processor: none has a prologue that checks for preemption.
// The loop does not either.
//
//go:noinline
func keep() {
	for !begin.Load() {
		runtime.Gosched()
	}
	if first.CompareAndSwap(false, true) {
		syscall.RawSyscall(syscall.SYS_WRITE, 1, uintptr(unsafe.Pointer(&ready[0])), uintptr(len(ready)))
	}
	for n := 0; ; n++ {
		called.Store(int32(n))
	}
}

//go:noinline
func recurse(depth int, f func()) int {
	var local [8]int
	local[depth%8] = depth
	if depth == 0 {
		f()
		return local[0]
	}
	return recurse(depth-1, f) + local[depth%8]
}

// yield yields the processor repeatedly.
func yield() {
	for {
		runtime.Gosched()
	}
}

// call repeatedly calls a function that is preempted in its prologue (runtime/stack.go,
// newstack).
func call() {
	for {
		count(1)
	}
}

//go:noinline
func count(n int32) (sum int32) {
	var local [64]int32
	for i := range local {
		local[i] = n
		sum += local[i] + called.Load()
	}
	return sum
}

//go:noinline
func read(fd int) {
	var b [16]byte
	reading.Add(1)
	syscall.Read(fd, b[:])
}

func main() {
	// With this setting, a loop without calls is never preempted.
	const settings = "GODEBUG=asyncpreemptoff=1"
	if os.Getenv("GODEBUG") != "asyncpreemptoff=1" {
		panic(syscall.Exec("/proc/self/exe", os.Args, []string{settings, "GOMAXPROCS=1"}))
	}
	// The program must not outlive a test that died: this is its processor time in seconds.
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: 120, Max: 120}); err != nil {
		panic(err)
	}
	debug.SetGCPercent(-1) // a collection would wait for the loop

	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	never, woken := make(chan int), make(chan int)
	go recurse(3, func() { <-never })
	go func() { select {} }()
	go time.Sleep(time.Hour)
	go recurse(2, func() { read(pipe[0]) })
	go func() {
		runtime.LockOSThread()
		read(pipe[0])
	}()
	for i := range 3 {
		go recurse(i, func() {
			<-woken
			keep()
		})
	}
	for reading.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	// The second one records that they wait, with the time of the first one.
	runtime.GC()
	runtime.GC()

	go yield()
	go call()
	for i := range 3 {
		go recurse(i, keep)
	}
	time.Sleep(50 * time.Millisecond)
	for range 3 {
		woken <- 1
	}
	for range 3 {
		go keep()
	}
	begin.Store(true)
	keep()
}
