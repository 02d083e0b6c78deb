// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

// Command host calls the function Start of the Go plugin that its argument names. Start
// calls a function of the host, which waits.
package main

import (
	"fmt"
	"os"
	"plugin"
	"runtime"
	"time"
)

var never = make(chan bool)

//go:noinline
func wait() {
	time.AfterFunc(100*time.Millisecond, func() {
		// The second one records the waiting goroutines, with the time of the first one.
		runtime.GC()
		runtime.GC()
		fmt.Println("ready")
	})
	<-never
}

func main() {
	// The program must not outlive a test that died.
	time.AfterFunc(10*time.Minute, func() { os.Exit(1) })
	p, err := plugin.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	start, err := p.Lookup("Start")
	if err != nil {
		panic(err)
	}
	start.(func(func()))(wait)
}
