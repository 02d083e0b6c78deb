// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Command replaces generates eight functions in turns, at the same address, and runs each for as many
// milliseconds as its argument says: call0 runs generated0, and so on. On a busy machine they take longer and do
// the same work. It publishes them to debuggers, and
// to perf as CLEW_PERF says.
package main

import (
	"fmt"
	"math"
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

// count returns how often f must be called to run for a time, if nothing interrupts it.
func count(f func(), period time.Duration) int {
	fastest := time.Duration(math.MaxInt64)
	for range 20 {
		start := time.Now()
		f()
		fastest = min(fastest, time.Since(start))
	}
	return int(period/max(fastest, 1)) + 1
}

//go:noinline
func run(f func(), times int) {
	for range times {
		f()
	}
}

//go:noinline
func call0(f func(), times int) { run(f, times) }

//go:noinline
func call1(f func(), times int) { run(f, times) }

//go:noinline
func call2(f func(), times int) { run(f, times) }

//go:noinline
func call3(f func(), times int) { run(f, times) }

//go:noinline
func call4(f func(), times int) { run(f, times) }

//go:noinline
func call5(f func(), times int) { run(f, times) }

//go:noinline
func call6(f func(), times int) { run(f, times) }

//go:noinline
func call7(f func(), times int) { run(f, times) }

var calls = []func(func(), int){call0, call1, call2, call3, call4, call5, call6, call7}

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
	times := count(f, time.Duration(period)*time.Millisecond)
	fmt.Println("ready")
	for n := 0; ; n++ {
		name := fmt.Sprint("generated", n%len(calls))
		published, err := jit.Publish(&jit.Code{Name: name, Address: memory.Address(), Text: memory.Bytes()[:len(spin)],
			Functions: []jit.Function{{Name: name, Size: uint64(len(spin)), Unwind: unwind}}})
		check(err)
		calls[n%len(calls)](f, times)
		check(published.Withdraw())
	}
}
