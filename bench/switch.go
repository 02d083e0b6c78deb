// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"errors"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
	"github.com/clewdev/clew/unwind"
)

// pointerTo says where the frame after the fifth one is found.
type pointerTo int

const (
	noPointer  pointerTo = iota // after the frame, as usual
	sameStack                   // by a pointer in memory, on the same stack
	otherStack                  // by a pointer in memory, on another one
)

// switchedStack is a stack of 70 frames, and the memory of another stack.
type switchedStack struct {
	sample
	modules unwind.Modules
	other   unwind.Stack
}

// ReadMemory implements cfi.Memory.
func (s *switchedStack) ReadMemory(p []byte, addr uint64) error {
	if at := addr - s.other.Address; at < uint64(len(s.other.Bytes)) && copy(p, s.other.Bytes[at:]) == len(p) {
		return nil
	}
	return errors.New("not part of a stack")
}

// StackAt implements unwind.StackMemory.
func (s *switchedStack) StackAt(addr uint64) (unwind.Stack, bool) {
	return s.other, addr-s.other.Address < uint64(len(s.other.Bytes))
}

// The functions of a switchedStack, and the number of its frames.
const (
	plainFunction, pointerFunction, outermostFunction = 0x1000, 0x2000, 0x3000
	switchedFrames                                    = 70
)

func newSwitchedStack(m *arch.Machine, to pointerTo) (*switchedStack, error) {
	plain, err := preset.Fixed(m, preset.Frame{Size: 24})
	if err != nil {
		return nil, err
	}
	pointer, err := preset.Leaf(m, preset.Frame{Ranges: []preset.Range{{Start: 4, Base: uint64(m.StackPointer), Path: []int64{8, 8}}}})
	if err != nil {
		return nil, err
	}
	outermost, err := cfi.NewBuilder(cfi.EntryCIE(m)).Undefined(uint64(m.ReturnAddress)).Program()
	if err != nil {
		return nil, err
	}
	table := cfi.Encoder{Machine: m, Address: 0x10000}
	for start, p := range map[uint64]*cfi.Program{plainFunction: plain, pointerFunction: pointer, outermostFunction: outermost} {
		if err := table.Program(p, start, 0x100); err != nil {
			return nil, err
		}
	}
	s := &switchedStack{other: unwind.Stack{Address: 0x7f0000000000, Bytes: make([]byte, 1<<12)}}
	s.modules.Add(plainFunction, 0x4000, &unwind.Module{Name: "bench", Source: unwind.Compile(&cfi.Section{Name: ".eh_frame", Machine: m, Address: table.Address, Data: table.Data})})
	s.stack = unwind.Stack{Address: 0x7ffd00000000, Bytes: make([]byte, 1<<12)}
	s.registers.PC = plainFunction + 0x10
	s.registers.Set(uint64(m.FramePointer), 0)
	s.registers.Set(uint64(m.StackPointer), s.stack.Address)
	of, sp, pc := &s.stack, s.stack.Address, s.registers.PC
	put := func(addr, v uint64) { m.Order.PutUint64(of.Bytes[addr-of.Address:], v) }
	for i := range switchedFrames - 1 {
		cfa, next := sp+32, uint64(plainFunction+0x10)
		switch {
		case i == 3 && to != noPointer:
			next = pointerFunction + 0x10
		case i == switchedFrames-2:
			next = outermostFunction + 0x10
		}
		if pc == pointerFunction+0x10 {
			if cfa = sp + 40; to == otherStack {
				cfa = s.other.Address + 8
			}
			put(sp+8, cfa-8)
			if to == otherStack {
				of = &s.other
			}
		}
		put(cfa-8, next)
		sp, pc = cfa, next
	}
	return s, nil
}

// switchMeasurements are of a walk that leads to another stack. Its peers are Clew's walks of as many
// frames on one stack.
func switchMeasurements(m *arch.Machine) ([]*measurement, error) {
	walk := func(to pointerTo, name string, goal float64) (contender, error) {
		s, err := newSwitchedStack(m, to)
		if err != nil {
			return contender{}, err
		}
		w, trail := &unwind.Walker{Machine: m, Modules: &s.modules, Stack: s.stack, Memory: s}, new(unwind.Trail)
		if w.Follow(trail, &s.registers); trail.Len() != switchedFrames || w.Reason() != unwind.EndOfStack {
			return contender{}, errors.Join(errors.New("the walk does not reach the outermost frame"), w.Err())
		}
		return contender{name: name, goal: goal, run: func() (outcome, error) {
			return fastest(func() (frames int) {
				for range 10 {
					trail.Forget()
					w.Follow(trail, &s.registers)
					frames += trail.Len()
				}
				return frames
			})
		}}, nil
	}
	own, err := walk(otherStack, "clew", 0)
	pointer, err2 := walk(sameStack, "clew, the same rule on one stack", 1.15)
	plain, err3 := walk(noPointer, "clew, usual frames only", 1.6)
	return []*measurement{{name: "a walk through a switch of stacks, 70 frames, 1000 frames", clew: own, peers: []contender{pointer, plain}}}, errors.Join(err, err2, err3)
}
