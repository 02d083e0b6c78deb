// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command replaces generates eight functions in turns, at the same address, and runs each for as many
// milliseconds as its argument says: call0 runs generated0, and so on. It publishes them to debuggers, and
// to perf as CLEW_PERF says.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
	"unsafe"

	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/jit"
	_ "github.com/clewdev/clew/jit/gdb"
	_ "github.com/clewdev/clew/jit/perf/environment"
)

// spin counts down from a million.
var spin = map[string]string{
	"amd64": "\xb9\x00\x00\x10\x00\xff\xc9\x75\xfc\xc3",
	"arm64": "\x00\x02\xa0\x52\x00\x04\x00\x71\xe1\xff\xff\x54\xc0\x03\x5f\xd6",
}[runtime.GOARCH]

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// run calls f for a time.
//
//go:noinline
func run(f func(), period time.Duration) {
	for until := time.Now().Add(period); time.Now().Before(until); {
		f()
	}
}

//go:noinline
func call0(f func(), period time.Duration) { run(f, period) }

//go:noinline
func call1(f func(), period time.Duration) { run(f, period) }

//go:noinline
func call2(f func(), period time.Duration) { run(f, period) }

//go:noinline
func call3(f func(), period time.Duration) { run(f, period) }

//go:noinline
func call4(f func(), period time.Duration) { run(f, period) }

//go:noinline
func call5(f func(), period time.Duration) { run(f, period) }

//go:noinline
func call6(f func(), period time.Duration) { run(f, period) }

//go:noinline
func call7(f func(), period time.Duration) { run(f, period) }

var calls = []func(func(), time.Duration){call0, call1, call2, call3, call4, call5, call6, call7}

func main() {
	debug.SetGCPercent(-1) // the collector would wait for the code
	period, err := strconv.Atoi(os.Args[1])
	check(err)
	memory, err := jit.NewMemory(len(spin))
	check(err)
	copy(memory.Bytes(), spin)
	check(memory.Seal())
	unwind, err := preset.Leaf(jit.Host(), preset.Frame{})
	check(err)
	closure := &struct{ code uint64 }{memory.Address()}
	f := *(*func())(unsafe.Pointer(&closure))
	fmt.Println("ready")
	for n := 0; ; n++ {
		name := fmt.Sprint("generated", n%len(calls))
		published, err := jit.Publish(&jit.Code{Name: name, Address: memory.Address(), Text: memory.Bytes()[:len(spin)],
			Functions: []jit.Function{{Name: name, Size: uint64(len(spin)), Unwind: unwind}}})
		check(err)
		calls[n%len(calls)](f, time.Duration(period)*time.Millisecond)
		check(published.Withdraw())
	}
}
