// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

// Command crashes ends in the way that its first argument names, on one of the stacks
// that the runtime changes to. Its second argument, if it has one, is a file for what
// the runtime says then.
package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
)

var ways = map[string]func(){
	"quit":     quit,
	"fault":    func() { fault(nil) },
	"overflow": func() { recurse(0) },
	"deadlock": func() { <-make(chan int) },
	"unlock":   func() { new(sync.Mutex).Unlock() },
}

//go:noinline
func fault(p *int) int { return *p }

//go:noinline
func recurse(depth int) int {
	var room [128]int
	room[depth%128] = depth
	if depth < 0 { // which it never is
		return 0
	}
	return recurse(depth+1) + room[depth%100]
}

var spins, yields atomic.Int64

//go:noinline
func spin() {
	for {
		spins.Add(1)
	}
}

//go:noinline
func yield() {
	for {
		yields.Add(1)
		runtime.Gosched()
	}
}

//go:noinline
func begin(n int) { panic(n) }

// quit leaves goroutines that would run if there were more processors: one that was
// interrupted, one that made way and some that have not begun.
func quit() {
	go spin()
	go yield()
	for spins.Load() == 0 || yields.Load() == 0 {
		runtime.Gosched()
	}
	for i := range 8 {
		go begin(i)
	}
	signal()
}

//go:noinline
func signal() { syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), syscall.SIGQUIT) }

func main() {
	runtime.GOMAXPROCS(1)
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	debug.SetMaxStack(1 << 17)
	if len(os.Args) > 2 {
		f, err := os.Create(os.Args[2])
		if err != nil {
			panic(err)
		}
		if err := syscall.Dup3(int(f.Fd()), 2, 0); err != nil {
			panic(err)
		}
	}
	ways[os.Args[1]]()
}
