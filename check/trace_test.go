// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"slices"
	"testing"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// In the second pass through a loop the link register still has the return address of a call in
// the first pass. Trace does not take it for another call.
func TestTraceLoop(t *testing.T) {
	const (
		caller, callee, returns = 0x1000, 0x2000, 0x3000
		top                     = 0x8000 // of the stack
	)
	// 1000: stp x29, x30, [sp, #-16]!; 1004: nop; 1008: bl 2000; 100c: cbnz x0, 1004;
	// 1010: ldp x29, x30, [sp], #16; 1014: ret
	code := decodeHex(t, "fd7bbfa9 1f2003d5 fe030094 c0ffffb5 fd7bc1a8 c0035fd6")
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: arm64Machine, Address: 0x4000}
	for address, b := range map[uint64]*cfi.Builder{
		caller: cfi.NewBuilder(cfi.EntryCIE(arm64Machine)).At(4).DefCFAOffset(16).Offset(29, -16).Offset(30, -8).At(20).DefCFAOffset(0).Restore(29).Restore(30),
		callee: cfi.NewBuilder(cfi.EntryCIE(arm64Machine)),
	} {
		p, err := b.Program()
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Program(p, address, uint64(len(code))); err != nil {
			t.Fatal(err)
		}
	}
	table := unwind.Compile(&cfi.Section{Kind: e.Kind, Machine: e.Machine, Address: e.Address, Data: e.Data})
	var modules unwind.Modules
	modules.Add(caller, returns, &unwind.Module{Name: "test", Source: table})

	frame := make([]byte, 16)
	copy(frame[8:], "\x00\x30") // the return address
	memory := pieces{{caller, code}, {top - 16, frame}}
	var states []TraceState
	state := func(pc, sp, link uint64) {
		r := &unwind.Registers{PC: pc}
		for column := range uint64(31) {
			r.Set(column, 0)
		}
		r.Set(30, link)
		r.Set(31, sp)
		states = append(states, TraceState{r, memory})
	}
	state(0x1000, top, returns)
	state(0x1004, top-16, returns)
	state(0x1008, top-16, returns)
	for range 2 {
		state(0x2000, top-16, 0x100c)
		state(0x100c, top-16, 0x100c)
		state(0x1004, top-16, 0x100c)
		state(0x1008, top-16, 0x100c)
	}
	state(0x2000, top-16, 0x100c)
	state(0x100c, top-16, 0x100c)
	state(0x1010, top-16, 0x100c)
	state(0x1014, top, returns)
	instructions := len(states)
	state(returns, top, returns)
	r, err := Trace(arm64Machine, &modules, slices.Values(states), nil)
	if err != nil || r.Instructions != instructions || r.Agree != instructions {
		t.Errorf("%+v, %v", r, err)
	}
}

// pieces is memory at several addresses.
type pieces []bytesAt

func (p pieces) ReadMemory(b []byte, address uint64) (err error) {
	for _, piece := range p {
		if err = piece.ReadMemory(b, address); err == nil {
			return nil
		}
	}
	return err
}
