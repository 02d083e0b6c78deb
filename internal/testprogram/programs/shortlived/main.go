// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

// Command shortlived continuously creates goroutines, some thousand at once, which end soon.
// There are four kinds. Each calls functions of its kind only, waits for the others at a
// depth of its kind, and ends, so that the runtime reuses its structure and its stack for
// another kind.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// The depths at which the kinds wait need stacks of different sizes.
const (
	depthA = 1
	depthB = 9
	depthC = 40
	depthD = 120
)

//go:noinline
func recurseA(depth int, wait func()) int {
	var local [8]int
	local[depth%8] = depth
	if depth == 0 {
		wait()
		return local[0]
	}
	return recurseA(depth-1, wait) + local[depth%8]
}

//go:noinline
func recurseB(depth int, wait func()) int {
	var local [16]int
	local[depth%8] = depth
	if depth == 0 {
		wait()
		return local[0]
	}
	return recurseB(depth-1, wait) + local[depth%8]
}

//go:noinline
func recurseC(depth int, wait func()) int {
	var local [4]int
	local[depth%4] = depth
	if depth == 0 {
		wait()
		return local[0]
	}
	return recurseC(depth-1, wait) + local[depth%4]
}

//go:noinline
func recurseD(depth int, wait func()) int {
	var local [6]int
	local[depth%4] = depth
	if depth == 0 {
		wait()
		return local[0]
	}
	return recurseD(depth-1, wait) + local[depth%4]
}

//go:noinline
func kindA(wait func()) { recurseA(depthA, wait) }

//go:noinline
func startA(wait func()) { go func() { kindA(wait) }() }

//go:noinline
func kindB(wait func()) { recurseB(depthB, wait) }

//go:noinline
func startB(wait func()) { go func() { kindB(wait) }() }

//go:noinline
func kindC(wait func()) { recurseC(depthC, wait) }

//go:noinline
func startC(wait func()) { go func() { kindC(wait) }() }

//go:noinline
func kindD(wait func()) { recurseD(depthD, wait) }

//go:noinline
func startD(wait func()) { go func() { kindD(wait) }() }

// generation creates some goroutines of each kind, and lets them end once all wait.
func generation(n int) {
	release := make(chan struct{})
	var begun, ended sync.WaitGroup
	begun.Add(n)
	ended.Add(n)
	wait := func() {
		begun.Done()
		<-release
		ended.Done()
	}
	for i := range n {
		switch i % 4 {
		case 0:
			startA(wait)
		case 1:
			startB(wait)
		case 2:
			startC(wait)
		case 3:
			startD(wait)
		}
	}
	begun.Wait()
	close(release)
	ended.Wait()
}

func main() {
	// The program must not outlive a test that died.
	time.AfterFunc(10*time.Minute, func() { os.Exit(1) })
	for i := range 4 {
		go func() {
			for {
				generation(100 + 600*i)
			}
		}()
	}
	time.Sleep(10 * time.Millisecond)
	fmt.Println("ready")
	select {}
}
