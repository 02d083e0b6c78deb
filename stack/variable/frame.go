// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package variable

import (
	"slices"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/value"
)

// Frame is a frame of a stack, as package value reads variables in it. It
// implements value.Frame.
type Frame struct {
	*shared
	index int
	place *place // nil if the frame is in no object
	cfa   uint64 // once readCFA is set

	calledGo        bool // it called a Go function, maybe indirectly: see Register
	hasCFA, readCFA bool
}

// shared is the common part of the frames of a stack.
type shared struct {
	reader *Reader
	stack  *stack.Stack
	frames []Frame
	memory *snapshot.ThreadMemory // remembers late reads
}

// Frames returns the frames of a stack. Its walk must have kept the registers, and the
// stack must not change afterwards. The frames of one stack are not safe for concurrent
// use; those of different stacks are. Frames reuses the buffer, which may be nil: frames in
// it, and values that were read in them, become invalid.
func (r *Reader) Frames(s *stack.Stack, buffer []Frame) []Frame {
	frames := slices.Grow(buffer[:0], len(s.Frames))[:len(s.Frames)]
	all := &shared{reader: r, stack: s, frames: frames, memory: r.snapshot.ThreadMemory(thread(s))}
	all.memory.Keep()
	for k := range frames {
		frames[k] = Frame{shared: all, index: k}
	}
	r.mu.Lock()
	r.findPlaces(frames)
	r.mu.Unlock()
	for k := range frames[:max(0, len(frames)-1)] {
		frames[k+1].calledGo = frames[k].calledGo || frames[k].place.isGo()
	}
	return frames
}

// thread returns the registers and the copy of a stack.
func thread(s *stack.Stack) *snapshot.Thread {
	switch {
	case s.Thread != nil:
		return s.Thread
	case s.Parked != nil:
		return s.Parked
	}
	return new(snapshot.Thread)
}

func (f *Frame) frame() *stack.Frame { return &f.stack.Frames[f.index] }

// Scopes returns the scopes of the frame, one for each of its Locations and in their
// order: the innermost inlined call first, the function last. It returns nil if the
// debugging information describes no function there; [Reader.Err] may say why.
func (f *Frame) Scopes() []*value.Scope {
	scopes := f.place.scopes()
	// Inlined calls that are not entered yet have a scope, but no location.
	return scopes[max(0, len(scopes)-max(len(f.frame().Locations), 1)):]
}

// Late reports whether a frame of the stack has read writable memory of a target that
// continued to run, since the last call of Late. Values from such memory may differ from those
// during the pause.
func (f *Frame) Late() bool {
	_, late := f.memory.Late()
	f.memory.ForgetLate()
	return late
}

// ReadMemory implements cfi.Memory, at run-time addresses.
func (f *Frame) ReadMemory(p []byte, address uint64) error { return f.memory.ReadMemory(p, address) }

// Register returns the value of a DWARF column in the frame, if it is known. Before a tail
// call a function restores its caller's registers, except the stack pointer. A Go function
// preserves only the stack pointer and the frame pointer (cmd/compile's ABIInternal), even if
// the machine's default rule says otherwise.
func (f *Frame) Register(column uint64) (uint64, bool) {
	m := f.reader.snapshot.Machine
	if c := int(column); f.calledGo && c != m.StackPointer && c != m.FramePointer && c != m.ProgramCounter {
		return 0, false
	}
	at := f.index
	for at+1 < len(f.stack.Frames) && f.stack.Frames[at].TailCall {
		at++
	}
	r := f.stack.Frames[at].Registers
	if r == nil || at != f.index && int(column) == m.StackPointer {
		return 0, false
	}
	if v, ok := r.Get(column); ok {
		return v, true
	}
	for at := f.index; at > 0 && f.keeps(at, column); {
		at--
		if r := f.stack.Frames[at].Registers; r != nil {
			if v, ok := r.Get(column); ok {
				return v, true
			}
		}
	}
	return 0, false
}

// keeps reports whether a register without a rule has the same value in frame i and in the
// frame that it called. Compilers keep a variable in such a register if they know that the
// called function does not change it (gcc's -fipa-ra), but only some describe when it does.
// A register with a rule and without a value is lost: the rule is "undefined" (DWARF 5
// §6.4.2.3) or needs an unknown value.
func (f *Frame) keeps(i int, column uint64) bool {
	frame := &f.stack.Frames[i]
	if frame.Interrupted || frame.Method != unwind.FromCFI {
		return false
	}
	if i == f.index && !f.place.listsEndAtCalls() { // otherwise f's compiler knew the called function
		return false
	}
	return f.stack.Frames[i-1].TailCall || f.frames[i-1].place.preserves(column)
}

// RegisterBytes returns the bytes of a vector register, unless a call can have changed it.
func (f *Frame) RegisterBytes(column uint64) ([]byte, bool) {
	if f.calledGo || f.frame().TailCall {
		return nil, false
	}
	for at := f.index; at > 0; at-- {
		if !f.keeps(at, column) {
			return nil, false
		}
	}
	return snapshot.VectorRegister(f.reader.snapshot.Machine, thread(f.stack).Vectors, column)
}

// ProgramCounter returns the frame's PC and LookupPC.
func (f *Frame) ProgramCounter() (pc, lookup uint64) {
	frame := f.frame()
	return frame.PC, frame.LookupPC
}

// CFA returns the canonical frame address.
func (f *Frame) CFA() (uint64, bool) {
	if !f.readCFA {
		f.cfa, f.hasCFA = f.findCFA()
		f.readCFA = true
	}
	return f.cfa, f.hasCFA
}

func (f *Frame) findCFA() (uint64, bool) {
	frame, machine := f.frame(), f.reader.snapshot.Machine
	if frame.Registers == nil || frame.Object == nil {
		return 0, false
	}
	if rules := f.place.rules(); rules != nil {
		cfa, err := rules.FrameAddress(machine, f, nil)
		return cfa, err == nil
	}
	// The caller's stack pointer after the call.
	next := f.index + 1
	for next < len(f.stack.Frames) && f.stack.Frames[next].TailCall {
		next++
	}
	if next == len(f.stack.Frames) || machine.StackPointer < 0 {
		return 0, false
	}
	sp, ok := f.stack.Frames[next].Registers.Get(uint64(machine.StackPointer))
	return sp + uint64(machine.CFAOffset), ok
}

// Info returns the debugging information of the frame's object, nil if it has none.
func (f *Frame) Info() *value.Info { return f.place.info() }

// Bias returns the load bias: run-time addresses minus addresses of Info.
func (f *Frame) Bias() uint64 {
	frame := f.frame()
	return frame.LookupPC - frame.Address
}

// Caller returns the frame that called this one, nil if there is none.
func (f *Frame) Caller() value.Frame {
	next := f.index + 1
	if next >= len(f.stack.Frames) || f.stack.Frames[next].Interrupted {
		return nil
	}
	return &f.frames[next]
}
