// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/goruntime"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// snapshotMemory is the memory of a target: the snapshot's copies, and the current content
// elsewhere.
type snapshotMemory struct{ *snapshot.Snapshot }

var errNoMemory = errors.New("the target's memory is not known")

// ReadMemory implements cfi.Memory.
func (s snapshotMemory) ReadMemory(p []byte, addr uint64) error {
	n := s.ReadCopies(p, addr)
	switch {
	case n == len(p):
		return nil
	case s.Memory == nil:
		return errNoMemory
	}
	return s.Memory.ReadMemory(p[n:], addr+uint64(n))
}

// ReadBatch implements snapshot.BatchMemory.
func (s snapshotMemory) ReadBatch(batch []snapshot.Copy) {
	if s.Memory != nil && !slices.ContainsFunc(batch, func(c snapshot.Copy) bool { return s.has(c.Address) }) {
		snapshot.ReadBatch(s.Memory, batch)
		return
	}
	var missing []snapshot.Copy
	var indexes []int // of missing, into batch
	for i, c := range batch {
		if n := s.ReadCopies(c.Bytes, c.Address); n < len(c.Bytes) {
			missing = append(missing, snapshot.Copy{Address: c.Address + uint64(n), Bytes: c.Bytes[n:]})
			indexes = append(indexes, i)
		}
	}
	if s.Memory != nil {
		snapshot.ReadBatch(s.Memory, missing)
	}
	for k := range missing {
		if s.Memory == nil || missing[k].Bytes == nil {
			batch[indexes[k]].Bytes = nil
		}
	}
}

// has reports whether an address was copied while the target stood still.
func (s snapshotMemory) has(addr uint64) bool {
	var b [1]byte
	return s.ReadCopies(b[:], addr) == 1
}

// maxReadStack is how many bytes of a stack are read at once. The walk reads deeper parts.
const maxReadStack = 64 << 10

// maxReads is how often a goroutine is read if it runs meanwhile.
const maxReads = 3

var errTooManyFrames = errors.New("the stacks of all goroutines have too many frames")

// walk walks the stack of a goroutine, which was read as a.
func (r *goroutineReader) walk(g *Goroutine, a *ahead) {
	r.frames = r.frames[:0]
	if r.walks <= 0 {
		g.Stack.Reason, g.Stack.Err = unwind.TooManyFrames, errTooManyFrames
		return
	}
	r.walker.MaxFrames = min(cmp.Or(r.opts.MaxFrames, unwind.DefaultMaxFrames), r.walks)
	defer func() { r.walks -= len(r.frames) }()
	s := r.objects.Snapshot()
	if t := r.threads[g.Address]; t != nil && (g.State == goruntime.Running || g.State == goruntime.InSyscall) {
		g.Stack.Thread = t
		if t.Registers.PC == 0 && t.Err != nil {
			g.Stack.Reason, g.Stack.Err = unwind.NoRule, t.Err
			return
		}
		r.follow(g, t, false)
		if pages := r.memory.LatePages(); r.opts.LatePages != nil && len(pages) > 0 {
			r.opts.LatePages(pages)
		}
		r.followScheduled(g, a)
		return
	}
	late := a.late
	for try := 1; ; try++ {
		r.frames = r.frames[:0]
		stack, complete := a.stack, a.complete
		if try > 1 {
			stack, complete = nil, false
		}
		t, err := r.parked(&g.Goroutine)
		if err == nil && stack == nil {
			stack, complete = r.readStack(t.StackAddress, g.StackHigh, late)
		}
		if err != nil {
			r.dropParked(&g.Stack)
			g.Stack.Reason, g.Stack.Err = unwind.NoRule, err
			if late && (g.State == goruntime.Running || g.State == goruntime.CopyingStack) {
				g.Stack.Err = ErrMoved
			}
			return
		}
		t.Stack, t.Late = stack, late
		r.follow(g, t, true)
		r.keepParked(&g.Stack, t)
		n := len(r.frames)
		beyond := n > 0 && r.frames[n-1].Late // in the stack of C code that called Go
		if !s.Live || !beyond && (!late && complete || try == 1 && a.unchanged) {
			return
		}
		// A goroutine that did not run has not changed its stack.
		now, err := r.runtime.Read(s.Memory, g.Address)
		switch {
		case err == nil && same(&g.Goroutine, &now):
			for i := range r.frames {
				r.frames[i].Late = false
			}
			return
		case try == maxReads || err != nil || now.ID != g.ID || !exists(&now):
			r.frames = r.frames[:0]
			g.Stack.Reason, g.Stack.Err = unwind.NoRule, ErrMoved
			r.dropParked(&g.Stack)
			return
		}
		g.Goroutine, late = now, true
	}
}

// followScheduled continues a walk if the thread is in the scheduler and about to run the
// goroutine, or has just left it (runtime/proc.go, execute; mcall). The thread's stack does
// not lead to that of the goroutine, so the walk continues at the saved registers.
func (r *goroutineReader) followScheduled(g *Goroutine, a *ahead) {
	n := len(r.frames)
	if g.State != goruntime.Running || a.late || g.Stack.Reason != unwind.EndOfStack || n == 0 {
		return
	}
	if slices.ContainsFunc(r.frames, func(f stack.Frame) bool { return g.StackLow <= f.SP && f.SP <= g.StackHigh }) ||
		r.functionOf(&r.frames[n-1]) != "runtime.mcall" &&
			!slices.ContainsFunc(r.frames, func(f stack.Frame) bool { return r.functionOf(&f) == "runtime.execute" }) {
		return
	}
	scheduled := g.Goroutine
	scheduled.State = goruntime.Runnable
	t, err := r.parked(&scheduled)
	if err != nil {
		g.Stack.Reason, g.Stack.Err = unwind.NoRule, err
		return
	}
	t.Stack, _ = r.readStack(t.StackAddress, g.StackHigh, false)
	r.follow(g, t, true)
}

// functionOf returns the name of a frame's Go function, "" if there is none.
func (r *goroutineReader) functionOf(f *stack.Frame) string {
	file, bias := r.file(f.LookupPC)
	if file == nil {
		return ""
	}
	fn, _ := file.GoFunctionAt(f.LookupPC - bias)
	return fn.Name
}

// same reports whether a goroutine, read twice, did not run in between.
func same(a, b *goruntime.Goroutine) bool {
	return a.ID == b.ID && a.Runs == b.Runs && a.State == b.State && a.Reason == b.Reason && a.Sched == b.Sched && a.Syscall == b.Syscall && a.StackHigh == b.StackHigh
}

// parkedAt returns the registers with which a parked goroutine continues.
func parkedAt(g *goruntime.Goroutine) (c goruntime.Context, err error) {
	c = g.Sched
	switch g.State {
	case goruntime.Running:
		return c, errors.New("it runs, but on none of the threads")
	case goruntime.CopyingStack:
		return c, errors.New("its stack is being moved")
	case goruntime.InSyscall:
		c = g.Syscall
	}
	if c.SP < g.StackLow || c.SP > g.StackHigh {
		return c, fmt.Errorf("its stack pointer %#x is not in its stack, from %#x to %#x", c.SP, g.StackLow, g.StackHigh)
	}
	return c, nil
}

// parked returns a parked goroutine as a thread, without its stack. The result is valid until
// the next call.
func (r *goroutineReader) parked(g *goruntime.Goroutine) (*snapshot.Thread, error) {
	c, err := parkedAt(g)
	if err != nil {
		return nil, err
	}
	t, m := &r.thread, r.objects.Snapshot().Machine
	*t = snapshot.Thread{Registers: unwind.Registers{PC: c.PC}, StackAddress: c.SP}
	if g.Thread == 0 && g.LockedTo != 0 {
		// C code that called Go is on the stack of the thread to which the goroutine is
		// locked. The walk finds that thread by the m that runs the goroutine, which is
		// nil now.
		t.Override = snapshot.Word{Address: g.Address + uint64(r.runtime.Layout.M), Value: g.LockedTo}
	}
	t.Registers.Set(uint64(m.StackPointer), c.SP)
	t.Registers.Set(uint64(m.FramePointer), c.FP)
	if !m.PushesReturns() {
		t.Registers.Set(uint64(m.ReturnAddress), c.LR)
	}
	if m.Go != nil && m.Go.G != 0 {
		t.Registers.Set(uint64(m.Go.G), g.Address)
	}
	return t, nil
}

// keepParked sets the stack's Parked, if registers were requested.
func (r *goroutineReader) keepParked(s *stack.Stack, t *snapshot.Thread) {
	if !r.opts.Registers {
		return
	}
	r.dropParked(s)
	parked := *t
	parked.Stack = nil
	if r.kept+len(t.Stack) <= maxKeptStacks { // else the stack is read when it is needed
		r.kept += len(t.Stack)
		parked.Stack = slices.Clone(t.Stack)
	}
	s.Parked = &parked
}

func (r *goroutineReader) dropParked(s *stack.Stack) {
	if s.Parked != nil {
		r.kept -= len(s.Parked.Stack)
		s.Parked = nil
	}
}

// readStack reads a stack from a stack pointer on, and reports whether all of it was copied
// while the target stood still. If the goroutine was read late, readStack uses no copy,
// because that can be of another goroutine's stack. The result is valid until the next call.
func (r *goroutineReader) readStack(sp, high uint64, late bool) (stack []byte, complete bool) {
	s := r.objects.Snapshot()
	n := min(high-sp, maxReadStack)
	r.buffer = slices.Grow(r.buffer[:0], int(n))[:n]
	copied := 0
	if !late {
		copied = s.ReadCopies(r.buffer, sp)
	}
	if copied < int(n) && (s.Memory == nil || s.Memory.ReadMemory(r.buffer[copied:], sp+uint64(copied)) != nil) {
		n = uint64(copied) // the walk reports what is missing
	}
	return r.buffer[:n], copied == len(r.buffer) && sp+n == high
}

// follow walks a stack. A parked goroutine has called the scheduler, or has not started.
func (r *goroutineReader) follow(g *Goroutine, t *snapshot.Thread, parked bool) {
	r.walker.Waiting = parked && !r.isEntry(t.Registers.PC)
	r.memory = *r.objects.Snapshot().ThreadMemory(t)
	r.objects.WalkThread(&r.walker, &r.memory, stack.WalkOptions{Registers: r.opts.Registers}, &r.frames)
	g.Stack.Reason, g.Stack.Err = r.walker.Reason(), r.walker.Err()
}

// isEntry reports whether a Go function begins at an address.
func (r *goroutineReader) isEntry(pc uint64) bool {
	is, known := r.entries[pc]
	if !known {
		if f, bias := r.file(pc); f != nil {
			fn, _ := f.GoFunctionAt(pc - bias)
			is = fn.Entry == pc-bias
		}
		if len(r.entries) < maxRemembered {
			r.entries[pc] = is
		}
	}
	return is
}
