// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"cmp"
	"slices"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/unwind"
)

// Stack is the stack of one thread.
type Stack struct {
	Thread *snapshot.Thread
	Frames []Frame // innermost first

	// Parked holds, of the stack of a goroutine that no thread runs, where it goes on
	// and a copy of its stack, as a thread does. It is there where registers were asked
	// for.
	Parked *snapshot.Thread

	// Reason is why the walk ended, and Err what stood in its way; nil at the
	// end of the stack.
	Reason unwind.Reason
	Err    error
}

// Whole reports whether the stack has all its frames, as far as the walk knows: it
// reaches the end, and no caller can be missing.
func (s *Stack) Whole() bool { return s.Reason == unwind.EndOfStack && !s.HasGap() }

// HasGap reports whether callers can be missing between frames of the stack.
func (s *Stack) HasGap() bool {
	return slices.ContainsFunc(s.Frames, func(f Frame) bool { return f.Gap })
}

// Walked is a snapshot with the objects that its target has mapped and the stacks of its
// threads, in the order of the threads.
type Walked struct {
	Snapshot *snapshot.Snapshot
	Objects  *Objects // the caller must close them
	Stacks   []Stack
}

// EarlyWalker is a snapshot.Source that can walk stacks before its snapshot is complete.
type EarlyWalker interface {
	WalkedSnapshot(WalkOptions) (*Walked, error)
}

// Frame is one frame of a stack.
type Frame struct {
	PC, LookupPC uint64 // as unwind.Frame has them: run-time addresses
	SP           uint64
	Method       unwind.Method
	Gap          bool // as unwind.Frame has it: callers can be missing before the frame
	Interrupted  bool
	Trampoline   bool

	// TailCall says that the function has no frame any more: it called that of the
	// frame before in the place of its return. Name found it by the call sites that
	// the debugging information tells of. PC is behind the call, or where that is
	// not said the call's own, SP and Registers are zero, and Method is that of
	// the next frame.
	TailCall bool

	// Late says that the frame was found by reading writable memory after the
	// target ran on: it may not fit the frames before it.
	Late bool

	// Code is the place of LookupPC. Objects.Name sets its names.
	Code

	// Registers are the registers in this frame, as far as they are known;
	// nil where they were not asked for.
	Registers unwind.FrameRegisters
}

// WalkOptions changes what Walk does. The zero value is good.
type WalkOptions struct {
	Registers bool // keep the registers of every frame
	Lines     bool // Name is to find lines: what that needs is read meanwhile, until Objects.Close
	MaxFrames int  // of one stack; 0 means unwind.DefaultMaxFrames
}

// Threads can share a stack: what a thread has costs nothing to the author of a core. Walk
// therefore cuts stacks after maxFrames frames of all threads, but not their first
// minFrames.
const (
	maxFrames = 1 << 20
	minFrames = 64
)

// Walk walks the stacks of all threads of the objects' snapshot, in the order
// of its threads. A thread without registers has a stack without frames, and
// its Err. If all stacks together have more than a million frames, the stacks of the
// threads after that are cut.
func (o *Objects) Walk(opts WalkOptions) []Stack {
	s := o.snapshot
	stacks := make([]Stack, len(s.Threads))
	w := &unwind.Walker{Machine: s.Machine, Modules: &o.Modules}
	// Memory that is not needed costs nothing: it is never touched. One list for all
	// would be copied again and again, and each stack would keep the copy of its time.
	const most = 1 << 14
	room := make([]Frame, min(minFrames*len(s.Threads), most))
	left := maxFrames
	if opts.Registers {
		left /= 4
	}
	for i := range s.Threads {
		t := &s.Threads[i]
		stack := &stacks[i]
		stack.Thread = t
		if t.Registers.PC == 0 && t.Err != nil {
			stack.Reason, stack.Err = unwind.NoRule, t.Err
			continue
		}
		if len(room) < minFrames {
			room = make([]Frame, min(minFrames*(len(s.Threads)-i), most))
		}
		frames := room[:0]
		w.MaxFrames = min(cmp.Or(opts.MaxFrames, unwind.DefaultMaxFrames), max(left, minFrames))
		err := object.Guard(func() error {
			o.WalkThread(w, o.snapshot.ThreadMemory(t), opts, &frames)
			return nil
		})
		left -= len(frames)
		stack.Frames = slices.Clip(frames)
		if len(frames) <= len(room) { // else it has memory of its own
			room = room[len(frames):]
		}
		stack.Reason, stack.Err = w.Reason(), w.Err()
		if err != nil {
			stack.Reason, stack.Err = unwind.UnreadableMemory, err
		}
	}
	return stacks
}

// walk walks the stack of one thread, that of memory, with the caller's walker, and
// appends its frames, each as it is found: where a fault in a mapped file ends the walk
// (object.Guard), frames has those before it.
func (o *Objects) WalkThread(w *unwind.Walker, memory *snapshot.ThreadMemory, opts WalkOptions, frames *[]Frame) {
	t := memory.Thread()
	w.Memory = memory
	w.Stack = unwind.Stack{Address: t.StackAddress, Bytes: t.Stack}
	sp := uint64(o.snapshot.Machine.StackPointer)
	for f := range w.Walk(&t.Registers) {
		_, late := memory.Late()
		frame := Frame{PC: f.PC, LookupPC: f.LookupPC, Method: f.Method, Gap: f.Gap,
			Interrupted: f.Interrupted, Trampoline: f.Trampoline, Late: late, Code: o.codeAt(f.Module, f.LookupPC)}
		frame.SP, _ = f.Registers.Get(sp)
		if opts.Lines {
			o.locateAhead(frame.Object, frame.Address)
		}
		if opts.Registers {
			frame.Registers = f.Registers.Kept()
		}
		*frames = append(*frames, frame)
	}
}

// codeAt returns the place of a run-time address, without names.
func (o *Objects) codeAt(m *unwind.Module, pc uint64) Code {
	c := Code{Object: o.Find(m, pc), Address: pc}
	if m != nil {
		c.Address -= m.Bias
	}
	return c
}

// Offset returns the offset of PC in the frame's symbol, in bytes. It returns false if
// there is no symbol.
func (f *Frame) Offset() (uint64, bool) {
	offset, ok := f.Code.Offset()
	if !ok {
		return 0, false
	}
	return offset + f.PC - f.LookupPC, true
}
