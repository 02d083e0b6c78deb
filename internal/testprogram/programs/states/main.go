// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

// Command states has a goroutine in each permanent state. With an argument it has so many
// more goroutines, which wait for one channel at a few different depths. On SIGQUIT the
// runtime prints all of them.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

type receiver[T any] struct{ from chan T }

//go:noinline
func (r receiver[T]) receive() T { return <-r.from }

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

// start creates a goroutine where it is inlined.
func start(f func()) { go f() }

//go:noinline
func read(fd int) {
	var b [16]byte
	syscall.Read(fd, b[:])
}

//go:noinline
func fault(p *int, wait func()) (n int) {
	defer func() {
		recover()
		wait()
	}()
	return *p
}

func main() {
	// The program must not outlive a test that died.
	time.AfterFunc(10*time.Minute, func() { os.Exit(1) })

	never := make(chan struct{})
	wait := func() { <-never }
	go recurse(3, wait)
	go func() { make(chan int) <- 1 }()
	go func() {
		select {
		case <-never:
		case make(chan int) <- 1:
		}
	}()
	go func() { select {} }()
	go func() { <-(chan int)(nil) }()
	go receiver[string]{make(chan string)}.receive()
	start(func() { (chan int)(nil) <- 1 })

	var mutex sync.Mutex
	mutex.Lock()
	go func() { recurse(5, mutex.Lock) }()
	var shared sync.RWMutex
	shared.Lock()
	go shared.RLock()
	cond := sync.NewCond(new(sync.Mutex))
	go func() {
		cond.L.Lock()
		cond.Wait()
	}()
	var group sync.WaitGroup
	group.Add(1)
	go group.Wait()
	go time.Sleep(time.Hour)
	go fault(nil, wait)

	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go r.Read(make([]byte, 1))
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	go read(pipe[0])
	go func() {
		runtime.LockOSThread()
		<-never
	}()
	go func() {
		runtime.LockOSThread()
		read(pipe[0])
	}()
	more()

	if len(os.Args) > 1 {
		n, err := strconv.Atoi(os.Args[1])
		if err != nil {
			panic(err)
		}
		for i := range n {
			go recurse(i%8, wait)
		}
	}
	time.AfterFunc(100*time.Millisecond, func() {
		// The second one records that they wait, with the time of the first one.
		runtime.GC()
		runtime.GC()
		fmt.Println("ready")
	})
	recurse(40, wait)
	runtime.KeepAlive(w)
	mutex.Unlock()
}
