// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package coderules

import (
	"encoding/binary"
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// BenchmarkFrame leaves a frame of each function of musl that another one calls directly, at its
// entry. The bar for a function that is new to the analyzer is 50 µs.
func BenchmarkFrame(b *testing.B) {
	f, err := object.Open("/usr/lib/x86_64-linux-musl/libc.so")
	if err != nil {
		b.Skipf("skipped: musl is not installed: %v", err)
	}
	defer f.Close()
	// The addresses after a call, by the called function.
	returns := map[uint64]uint64{}
	for s := range f.Symbols() {
		if s.Size > 0 && s.Size <= maxFunction {
			code := make([]byte, s.Size)
			if f.ReadMemory(code, s.Address) != nil {
				continue
			}
			for i := 0; i+5 <= len(code); i++ {
				if next := s.Address + uint64(i) + 5; code[i] == 0xe8 {
					returns[next+uint64(int32(binary.LittleEndian.Uint32(code[i+1:])))] = next
				}
			}
		}
	}
	var stacks [][2]uint64
	for s := range f.Symbols() {
		if next, ok := returns[s.Address]; ok && s.Size > 0 && s.Size <= maxFunction {
			stacks = append(stacks, [2]uint64{s.Address, next})
		}
	}
	if len(stacks) < 100 {
		b.Fatalf("%d functions", len(stacks))
	}

	for _, known := range []bool{false, true} {
		name := "new"
		if known {
			name = "known"
		}
		b.Run(name, func(b *testing.B) {
			var analyzer *Analyzer
			var tables stack.FileTables
			var modules unwind.Modules
			w := &unwind.Walker{Machine: f.Machine(), Modules: &modules, Memory: f, MaxFrames: 1}
			w.Stack = unwind.Stack{Address: 0x7fff0000, Bytes: make([]byte, 64)}
			var r unwind.Registers
			for n := 0; b.Loop(); n++ {
				if k := n % len(stacks); k == 0 && !(known && n > 0) {
					analyzer = new(Analyzer)
					modules = unwind.Modules{}
					modules.Add(0, 1<<32, &unwind.Module{Function: f.FunctionStart, Analyze: tables.Analyze(f, analyzer)})
				}
				at := stacks[n%len(stacks)]
				binary.LittleEndian.PutUint64(w.Stack.Bytes, at[1])
				r.PC = at[0]
				r.Set(7, w.Stack.Address)
				for range w.Walk(&r) {
				}
			}
		})
	}
}
