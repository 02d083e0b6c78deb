// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf_test

import (
	"fmt"
	"log"
	"math"
	"os"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/perf"
)

// A program publishes a function in its jitdump; another one reads it.
func Example() {
	dir, err := os.MkdirTemp("", "jitdump")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	dump, err := perf.Create(dir)
	if err != nil {
		log.Fatal(err)
	}
	unwind, err := cfi.NewBuilder(cfi.EntryCIE(jit.Host())).At(4).AdjustCFAOffset(32).Program()
	if err != nil {
		log.Fatal(err)
	}
	_, err = dump.Publish(&jit.Code{
		Address: 0x7f0000001000,
		Text:    make([]byte, 4096),
		Functions: []jit.Function{{Name: "fib", Offset: 0x40, Size: 0x60, Unwind: unwind, Lines: []jit.Line{
			{Offset: 0, File: "/src/fib.lang", Line: 1},
			{Offset: 16, File: "/src/fib.lang", Line: 2},
		}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := dump.Close(); err != nil {
		log.Fatal(err)
	}

	read, err := perf.ReadJitdump(dump.Path())
	if err != nil {
		log.Fatal(err)
	}
	index := read.Index()
	if f, ok := index.Find(0x7f0000001044, math.MaxUint64); ok {
		fmt.Printf("%s at %#x, %d bytes\n", index.Name(f), f.Address, f.Size)
		for line := range index.Lines(f) {
			fmt.Printf("+%d %s:%d\n", line.Offset, line.File, line.Line)
		}
	}
	// Output:
	// fib at 0x7f0000001040, 96 bytes
	// +0 /src/fib.lang:1
	// +16 /src/fib.lang:2
}

func ExampleParseMap() {
	m := perf.ParseMap("perf-4711.map", []byte("7f0000001000 40 fib\n0x7f0000001040 0x20 int java.lang.Math.max(int, int)\n"))
	if s, ok := m.Find(0x7f0000001044); ok {
		fmt.Println(s.Name)
	}
	// Output: int java.lang.Math.max(int, int)
}
