// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/clewdev/clew/check/coderules"
	elffile "github.com/clewdev/clew/object"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// analysisMeasurements are of leaving frames by the analysis of their code. The file is musl's
// library, whose functions have no call frame information.
func analysisMeasurements(path string) ([]*measurement, func(), error) {
	f, err := elffile.Open(path)
	if err != nil {
		return nil, nil, nil
	}
	calls := directCalls(f)
	if len(calls) == 0 {
		return nil, nil, fmt.Errorf("%s: no function calls another", path)
	}
	return []*measurement{{
		name:  fmt.Sprintf("leaving a frame by analysis, mean of %d functions of musl", len(calls)),
		clew:  contender{name: "clew", run: func() (outcome, error) { return leaveAll(f, calls, true) }},
		peers: []contender{limit(50 * time.Microsecond), {name: "clew without package check", run: func() (outcome, error) { return leaveAll(f, calls, false) }}},
	}}, func() { f.Close() }, nil
}

// directCall is a function, and the address after a call of it.
type directCall struct{ function, returns uint64 }

// directCalls finds the functions of an x86-64 file that others call directly.
func directCalls(f *elffile.File) (list []directCall) {
	const most = 1 << 16
	returns := make(map[uint64]uint64)
	for s := range f.Symbols() {
		code := make([]byte, min(s.Size, most))
		if f.ReadMemory(code, s.Address) != nil {
			continue
		}
		for i := 0; i+5 <= len(code); i++ {
			if next := s.Address + uint64(i) + 5; code[i] == 0xe8 {
				returns[next+uint64(int32(binary.LittleEndian.Uint32(code[i+1:])))] = next
			}
		}
	}
	for s := range f.Symbols() {
		if next, ok := returns[s.Address]; ok && s.Size > 0 && s.Size < most {
			list = append(list, directCall{s.Address, next})
		}
	}
	return list
}

// leaveAll leaves a frame at the entry of each function, which the walker meets for the first
// time, and returns the mean time.
func leaveAll(f *elffile.File, calls []directCall, analyse bool) (outcome, error) {
	module := &unwind.Module{Function: f.FunctionStart}
	if analyse {
		module.Analyze = new(stack.FileTables).Analyze(f, new(coderules.Analyzer))
	}
	var modules unwind.Modules
	modules.Add(0, 1<<32, module)
	w := &unwind.Walker{Machine: f.Machine(), Modules: &modules, Memory: f, MaxFrames: 1}
	w.Stack = unwind.Stack{Address: 0x7fff0000, Bytes: make([]byte, 64)}
	var r unwind.Registers
	o, err := timed(func(o *outcome) error {
		for _, c := range calls {
			binary.LittleEndian.PutUint64(w.Stack.Bytes, c.returns)
			r.PC = c.function
			r.Set(uint64(w.Machine.StackPointer), w.Stack.Address)
			for range w.Walk(&r) {
				o.entries++
			}
			if w.Reason() != unwind.TooManyFrames {
				return fmt.Errorf("the frame at %#x is not left: %w", c.function, w.Err())
			}
		}
		return nil
	})
	o.took /= time.Duration(len(calls))
	return o, err
}
