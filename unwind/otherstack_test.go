// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/clewdev/clew/unwind"
)

// stacks are a stack of some frames, and other stacks on which it continues.
type stacks struct {
	modules unwind.Modules
	regs    unwind.Registers
	stack   unwind.Stack
	others  unwind.Stack
}

func (s *stacks) ReadMemory(p []byte, addr uint64) error {
	if at := addr - s.others.Address; at < uint64(len(s.others.Bytes)) && copy(p, s.others.Bytes[at:]) == len(p) {
		return nil
	}
	return errors.New("not part of a stack")
}

func (s *stacks) StackAt(addr uint64) (unwind.Stack, bool) {
	return s.others, addr-s.others.Address < uint64(len(s.others.Bytes))
}

// newStacks returns a stack whose frames at odd places, of a list, are those of functions with an
// expression for the CFA. If switches is set, it leads to another stack.
func newStacks(tb testing.TB, frames int, odd []int, switches bool) *stacks {
	tb.Helper()
	s := &stacks{stack: unwind.Stack{Address: stackAt, Bytes: make([]byte, 1<<14)}, others: unwind.Stack{Address: 0x10000, Bytes: make([]byte, 1<<16)}}
	expression := "0f02 7720" // rsp + 32
	if switches {
		expression = "0f05 7708 06 2308" // *(rsp+8) + 8
	}
	section := build(tb, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0e20"}, function{0x2000, 0x2100, expression}, function{0x3000, 0x3100, "0710"})
	s.modules.Add(0x1000, 0x4000, &unwind.Module{Name: "test", Source: unwind.Compile(section)})
	put := func(addr, v uint64) {
		of := &s.stack
		if addr-of.Address >= uint64(len(of.Bytes)) {
			of = &s.others
		}
		binary.LittleEndian.PutUint64(of.Bytes[addr-of.Address:], v)
	}
	function := func(i int) uint64 {
		switch {
		case i == frames-1:
			return 0x3010
		case slices.Contains(odd, i):
			return 0x2010
		}
		return 0x1010
	}
	s.regs.PC = function(0)
	s.regs.Set(6, 0)
	s.regs.Set(7, stackAt)
	sp, other := uint64(stackAt), s.others.Address
	for i := range frames - 1 {
		cfa := sp + 32
		if switches && function(i) == 0x2010 {
			put(sp+8, other)
			cfa, other = other+8, other+0x1000
		}
		put(cfa-8, function(i+1))
		sp = cfa
	}
	return s
}

// BenchmarkSwitch walks 70 frames, of which none, one or eight have an expression for the CFA, which
// leads to another stack or not, without and with a remembered path.
func BenchmarkSwitch(b *testing.B) {
	const frames = 70
	for _, kind := range []struct {
		name     string
		odd      []int
		switches bool
	}{
		{"plain", nil, false}, {"an expression", []int{4}, false}, {"a switch", []int{4}, true},
		{"eight expressions", []int{4, 12, 20, 28, 36, 44, 52, 60}, false}, {"eight switches", []int{4, 12, 20, 28, 36, 44, 52, 60}, true},
	} {
		for _, how := range []string{"anew", "same"} {
			b.Run(kind.name+" "+how, func(b *testing.B) {
				s := newStacks(b, frames, kind.odd, kind.switches)
				w := &unwind.Walker{Machine: x86, Modules: &s.modules, Stack: s.stack, Memory: s}
				var trail unwind.Trail
				b.ReportAllocs()
				for b.Loop() {
					if how == "anew" {
						trail.Forget()
					}
					if w.Follow(&trail, &s.regs); trail.Len() != frames || w.Reason() != unwind.EndOfStack {
						b.Fatalf("%d frames, %v: %v", trail.Len(), w.Reason(), w.Err())
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/frames, "ns/frame")
			})
		}
	}
}

// plainMemory hides that memory is a StackMemory.
type plainMemory struct{ memory *stacks }

func (m plainMemory) ReadMemory(p []byte, addr uint64) error { return m.memory.ReadMemory(p, addr) }

// A walk through other stacks is the same whether the memory gives copies of them or only reads
// them, and leaves the walker's Stack as it was. It notices changes on the other stacks.
func TestStackMemory(t *testing.T) {
	const frames = 40
	for _, odd := range [][]int{nil, {0}, {4}, {4, 5, 12, 38}} {
		s := newStacks(t, frames, odd, true)
		walk := func(w *unwind.Walker, trail *unwind.Trail) (steps []unwind.Step) {
			w.Follow(trail, &s.regs)
			for i := range trail.Len() {
				steps = append(steps, trail.At(i))
			}
			n := 0
			for f := range w.Walk(&s.regs) {
				if sp, _ := f.Registers.Get(7); n >= len(steps) || steps[n].PC != f.PC || steps[n].SP != sp {
					t.Fatalf("%d: frame %d differs from that of a walk with registers: %+v", odd, n, f)
				}
				n++
			}
			if &w.Stack.Bytes[0] != &s.stack.Bytes[0] || w.Stack.Address != stackAt {
				t.Fatalf("%d: the walker's Stack is at %#x", odd, w.Stack.Address)
			}
			return steps
		}
		copied := &unwind.Walker{Machine: x86, Modules: &s.modules, Stack: s.stack, Memory: s}
		read := &unwind.Walker{Machine: x86, Modules: &s.modules, Stack: s.stack, Memory: plainMemory{s}}
		var one, two unwind.Trail
		for _, change := range []func(){func() {}, func() {}, func() {
			// The last return addresses lead elsewhere.
			for i := range s.others.Bytes {
				s.others.Bytes[i] ^= byte(i / 256 & 1)
			}
		}} {
			change()
			a, b := walk(copied, &one), walk(read, &two)
			if !slices.Equal(a, b) || copied.Reason() != read.Reason() {
				t.Errorf("%d: %d frames, then %v; expected %d, %v", odd, len(a), copied.Reason(), len(b), read.Reason())
			}
		}
	}
}
