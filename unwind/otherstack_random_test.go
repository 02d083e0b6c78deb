// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/clewdev/clew/unwind"
)

// regions are stacks of a thread that changes between them.
type regions []unwind.Stack

func (r regions) StackAt(addr uint64) (unwind.Stack, bool) {
	for _, s := range r {
		if addr-s.Address < uint64(len(s.Bytes)) {
			return s, true
		}
	}
	return unwind.Stack{}, false
}

func (r regions) ReadMemory(p []byte, addr uint64) error {
	if s, ok := r.StackAt(addr); ok && copy(p, s.Bytes[addr-s.Address:]) == len(p) {
		return nil
	}
	return errors.New("not part of a stack")
}

func (r regions) put(addr, v uint64) {
	s, _ := r.StackAt(addr)
	binary.LittleEndian.PutUint64(s.Bytes[addr-s.Address:], v)
}

// placedFrame is a frame of a thread: its function, its stack pointer, the region of that, and
// down to where it and its callers use each region.
type placedFrame struct {
	pc, sp uint64
	region int
	used   [4]uint64
}

// called returns the frame of a function that a frame calls. The function changes stacks if
// region is another one.
func (r regions) called(caller placedFrame, pc uint64, region int) placedFrame {
	f := placedFrame{pc: pc, region: region, used: caller.used}
	r.put(caller.sp-8, caller.pc)
	f.used[caller.region] = caller.sp - 32
	f.sp = f.used[region]
	if pc == 0x2010 {
		f.sp -= 32
		r.put(f.sp+8, caller.sp-8)
	}
	f.used[region] = f.sp
	return f
}

// TestFollowBetweenStacks walks along one trail while a thread calls and returns, on four stacks
// above and below each other. The result is that of a new walk.
func TestFollowBetweenStacks(t *testing.T) {
	section := build(t, x86, "", "0c0708 9001", function{0x1000, 0x1100, "0e20"}, function{0x2000, 0x2100, "0f05 7708 06 2308"}, function{0x3000, 0x3100, "0710"})
	var modules unwind.Modules
	modules.Add(0x1000, 0x4000, &unwind.Module{Name: "test", Source: unwind.Compile(section)})
	whole, kept := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var memory regions
		for _, at := range r.Perm(4) {
			memory = append(memory, unwind.Stack{Address: 0x10000 * uint64(at+1), Bytes: make([]byte, 1<<13)})
		}
		first := placedFrame{pc: 0x3010}
		for k := range first.used {
			first.used[k] = memory[k].Address + 1<<13 - 64
		}
		first.sp = first.used[0]
		frames := []placedFrame{first}
		var trail unwind.Trail
		w := &unwind.Walker{Machine: x86, Modules: &modules, Memory: memory}
		for range 30 {
			frames = frames[:1+r.IntN(len(frames))]
			for range r.IntN(25) {
				caller := frames[len(frames)-1]
				pc, region := uint64(0x1010), caller.region
				if r.IntN(6) == 0 {
					pc, region = 0x2010, r.IntN(4)
				}
				frames = append(frames, memory.called(caller, pc, region))
			}
			inner := frames[len(frames)-1]
			var regs unwind.Registers
			regs.PC = inner.pc
			regs.Set(6, 0)
			regs.Set(7, inner.sp)
			w.Stack, _ = memory.StackAt(inner.sp)
			w.Follow(&trail, &regs)
			reason := w.Reason()
			fresh := &unwind.Walker{Machine: x86, Modules: &modules, Memory: memory, Stack: w.Stack}
			n := 0
			for f := range fresh.Walk(&regs) {
				sp, _ := f.Registers.Get(7)
				if n < trail.Len() && (trail.At(n).PC != f.PC || trail.At(n).SP != sp) {
					t.Fatalf("seed %d: frame %d is %+v, and %#x with %#x in a new walk", seed, n, trail.At(n), f.PC, sp)
				}
				n++
			}
			if reason == unwind.EndOfStack {
				whole++
				kept += trail.Kept()
			}
			if n != trail.Len() || reason != fresh.Reason() || reason == unwind.EndOfStack && n != len(frames) {
				t.Fatalf("seed %d: %d frames, %v; a new walk has %d, %v, and the thread %d", seed, trail.Len(), reason, n, fresh.Reason(), len(frames))
			}
		}
	}
	if t.Logf("%d whole walks, %d frames kept", whole, kept); whole < 5000 || kept < 5*whole {
		t.Error("too few")
	}
}
