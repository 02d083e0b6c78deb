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

	// Parked has the registers with which a parked goroutine continues, and a copy of its
	// stack. It is nil for threads, and unless registers were requested.
	Parked *snapshot.Thread

	// Reason is why the walk ended. Err is the error that ended it, nil at the end of the
	// stack.
	Reason unwind.Reason
	Err    error
}

// Whole reports whether the stack has all its frames, as far as the walk knows: it
// reaches the end, and no caller can be missing.
func (s *Stack) Whole() bool { return s.End() == unwind.EndOfStack }

// End returns the Reason, or CallersMissing for a stack that reaches the end with a gap.
func (s *Stack) End() unwind.Reason {
	if s.Reason == unwind.EndOfStack && s.HasGap() {
		return unwind.CallersMissing
	}
	return s.Reason
}

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
	PC, LookupPC uint64 // run-time addresses: see unwind.Frame
	SP           uint64
	Method       unwind.Method
	Gap          bool // callers can be missing before the frame: see unwind.Frame
	Interrupted  bool
	Trampoline   bool

	// TailCall says that the function has no frame any more: it called the function of the
	// previous frame by a tail call. Name finds such functions by the call sites in
	// debugging information. PC is the address after the call, or the call's own if the
	// former is unknown. SP and Registers are zero, and Method is the Method of the next
	// frame.
	TailCall bool

	// Late says that the walk to the frame read writable memory after the target continued
	// to run: the frame may not match the previous ones.
	Late bool

	// Code is the place of LookupPC. Objects.Name sets its names.
	Code

	// Registers are the known registers in this frame; nil if they were not requested.
	Registers unwind.FrameRegisters
}

// WalkOptions changes what Walk does. The zero value is valid.
type WalkOptions struct {
	Registers bool // keep the registers of every frame
	Lines     bool // Name will find lines: start to read them in the background
	MaxFrames int  // of one stack; 0 means unwind.DefaultMaxFrames

	// Analyzer is the Objects.Analyzer of objects that are made for the walk, as by
	// EarlyWalker.
	Analyzer CodeAnalyzer

	// LatePages, if not nil, is called for a stack whose walk read writable memory after the
	// target continued to run, with the addresses of the pages (ThreadMemory.LatePages).
	LatePages func(pages []uint64)
}

// Threads of a malicious core can share a stack. Walk therefore cuts stacks after maxFrames
// frames of all threads, but keeps the first minFrames of each.
const (
	maxFrames = 1 << 20
	minFrames = 64
)

// Walk walks the stacks of all threads of the objects' snapshot, in the order of its
// threads. The stack of a thread without registers has no frames, and the thread's Err. If
// all stacks have more than a million frames in total, later stacks are cut.
func (o *Objects) Walk(opts WalkOptions) []Stack {
	s := o.snapshot
	stacks := make([]Stack, len(s.Threads))
	w := &unwind.Walker{Machine: s.Machine, Modules: &o.Modules}
	// The stacks share blocks of frames. Memory that is not needed is never touched, so it
	// costs nothing. A single growing list would be copied repeatedly.
	const maxBlock = 1 << 14
	block := make([]Frame, min(minFrames*len(s.Threads), maxBlock))
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
		if len(block) < minFrames {
			block = make([]Frame, min(minFrames*(len(s.Threads)-i), maxBlock))
		}
		frames := block[:0]
		w.MaxFrames = min(cmp.Or(opts.MaxFrames, unwind.DefaultMaxFrames), max(left, minFrames))
		err := object.Guard(func() error {
			memory := o.snapshot.ThreadMemory(t)
			o.WalkThread(w, memory, opts, &frames)
			if pages := memory.LatePages(); opts.LatePages != nil && len(pages) > 0 {
				opts.LatePages(pages)
			}
			return nil
		})
		left -= len(frames)
		stack.Frames = slices.Clip(frames)
		if len(frames) <= len(block) { // otherwise frames has left the block
			block = block[len(frames):]
		}
		stack.Reason, stack.Err = w.Reason(), w.Err()
		if err != nil {
			stack.Reason, stack.Err = unwind.UnreadableMemory, err
		}
	}
	return stacks
}

// WalkThread walks the stack of the thread of memory with the caller's walker. It appends
// each frame to frames at once, so that they are kept if a fault in a mapped file ends the
// walk (object.Guard).
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
			o.requestLines(frame.Object, frame.Address)
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
