// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command goshares runs goroutines that keep the runtime busy: they allocate, which needs the
// garbage collector, hand values over by channels, which needs the scheduler, call the system, grow
// their stacks, and, if built with cgo, call C, which calls Go. It runs for the milliseconds in its
// argument, or forever.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

type node struct {
	left, right *node
	_           [6]int
}

//go:noinline
func tree(depth int) *node {
	if depth == 0 {
		return new(node)
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

//go:noinline
func heavy(n int) (sum int) {
	for i := range n {
		sum += i ^ sum<<1
	}
	return sum
}

//go:noinline
func grow(depth int) int {
	var big [64]int
	big[depth%64] = depth
	if depth > 0 {
		return grow(depth-1) + big[depth%64]
	}
	return heavy(1000)
}

var kept = make([]*node, 8)

func main() {
	values, sum := make(chan int), 0
	go func() {
		for v := range values {
			sum += heavy(v)
		}
	}()
	go func() {
		for i := 0; ; i++ {
			kept[i%len(kept)] = tree(12)
		}
	}()
	go func() {
		for i := 0; ; i++ {
			os.Stat("/proc/self/maps")
			done := make(chan int)
			go func() {
				if i%64 == 0 {
					done <- grow(12)
				} else {
					done <- heavy(1000)
				}
			}()
			<-done
		}
	}()
	go callC()
	limit := 0
	if len(os.Args) > 1 {
		limit, _ = strconv.Atoi(os.Args[1])
	}
	fmt.Println("ready")
	for start := time.Now(); limit == 0 || time.Since(start) < time.Duration(limit)*time.Millisecond; {
		values <- 10000
	}
}
