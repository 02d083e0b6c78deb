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
	place *place // nil where it is in no object
	cfa   uint64 // each variable of a frame may ask for it

	calledGo        bool // a Go function is among those that it called: see Register
	hasCFA, readCFA bool
}

// shared is what the frames of a stack have in common.
type shared struct {
	reader *Reader
	stack  *stack.Stack
	frames []Frame
	memory *snapshot.ThreadMemory // remembers what it took from a target that runs
}

// Frames returns the frames of a stack. Its walk must have kept the registers, and the
// stack must not change afterwards. The frames of one stack are not safe for concurrent
// use; those of different stacks are. The buffer is used again: the frames in it, and the
// values that were read in them, become invalid. It may be nil.
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

// thread returns what holds the registers and the copied stack of a stack.
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

// Late reports whether anything that was read since the last call of Late came
// from writable memory of a target that had run on: it may not fit what was read
// in the pause. The other frames of the stack count with it.
func (f *Frame) Late() bool {
	_, late := f.memory.Late()
	f.memory.ForgetLate()
	return late
}

// ReadMemory implements cfi.Memory, at run-time addresses.
func (f *Frame) ReadMemory(p []byte, address uint64) error { return f.memory.ReadMemory(p, address) }

// Register returns the value of a DWARF column in the frame, if it is known. A function
// that ended with a jump to another one had restored its caller's registers before the
// jump, except the stack pointer. A Go function restores only the registers of the frame
// (cmd/compile's ABIInternal), whatever the machine's default rule for columns that its
// table does not mention.
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

// keeps reports whether a register has in frame i the value that it has in the frame
// that this one called, as no rule is about it. Compilers give a variable such a register
// where they know that the function they call leaves it alone (gcc's -fipa-ra), but
// only some of them say when it does not. A register that has a rule is lost where the
// walk has no value for it: the rule is "undefined" (DWARF 5 §6.4.2.3), or needs what
// is not known.
func (f *Frame) keeps(i int, column uint64) bool {
	frame := &f.stack.Frames[i]
	if frame.Interrupted || frame.Method != unwind.FromCFI {
		return false
	}
	if i == f.index && !f.place.listsEndAtCalls() { // else f's compiler knew of all that is called there
		return false
	}
	// Frames without registers are those of functions that have jumped away.
	return f.stack.Frames[i-1].TailCall || f.frames[i-1].place.preserves(column)
}

// RegisterBytes returns the bytes of a vector register, which calls can change: what a
// function left in it that has jumped away, too.
func (f *Frame) RegisterBytes(column uint64) ([]byte, bool) {
	if f.calledGo || f.frame().TailCall {
		return nil, false
	}
	b, ok := snapshot.VectorRegister(f.reader.snapshot.Machine, thread(f.stack).Vectors, column)
	for at := f.index; ok && at > 0; at-- {
		ok = f.keeps(at, column)
	}
	if !ok {
		return nil, false
	}
	return b, true
}

// ProgramCounter returns PC and LookupPC.
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
	// The stack pointer of the caller once the call returns.
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

// Info returns the debugging information of the frame's object, nil if the object has
// no debugging information.
func (f *Frame) Info() *value.Info {
	return f.place.info()
}

// Bias is what is added to the addresses of Info.
func (f *Frame) Bias() uint64 {
	frame := f.frame()
	return frame.LookupPC - frame.Address
}

// Caller returns the frame that called this one, nil where there is none.
func (f *Frame) Caller() value.Frame {
	next := f.index + 1
	if next >= len(f.stack.Frames) || f.stack.Frames[next].Interrupted {
		return nil
	}
	return &f.frames[next]
}
