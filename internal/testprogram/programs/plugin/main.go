// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Plugin is the plugin of command host.
package main

var never = make(chan bool)

//go:noinline
func recurse(depth int) int {
	if depth == 0 {
		<-never
		return 0
	}
	return recurse(depth-1) + depth
}

// Start starts goroutines that wait, and calls a function of the host.
func Start(wait func()) {
	for i := range 10 {
		go recurse(i)
	}
	wait()
}

func main() {}
