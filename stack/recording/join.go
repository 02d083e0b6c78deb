// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// join continues a walk that ended early, in Go code or in a function that has changed stacks, with
// the call chain that the kernel recorded by frame pointers. Go's runtime often runs on another stack
// than the goroutine that called it, and so does an engine of generated code; but a recording has a
// copy of one stack only. user is the user part of the chain. join sets
// b.walk.joined to the callers of the outermost walked frame, and returns why the stack ends.
//
// The chain has no frame pointers. join therefore follows the frame pointers through the copy, as the
// kernel did, until one is that of the outermost walked frame. The callers of this frame are the rest
// of the chain. Go functions keep frame pointers. A chain through other functions counts only if it
// leads to the start of a goroutine, and callers can be missing in it. After a function that has
// changed stacks callers can be missing, too, because functions on the other stack need not keep
// frame pointers.
func (b *builder) join(t *thread, s *perfdata.Sample, machine *arch.Machine, user []uint64, reason unwind.Reason) unwind.Reason {
	w, trail := &b.walk, &t.trail
	w.joined = w.joined[:0]
	n := trail.Len()
	if n < 2 || machine.FramePointer < 0 || machine.AddressSize != 8 || reason == unwind.TooManyFrames {
		return reason
	}
	last, lastKnown := trail.FramePointer(n - 1)
	fp, known := w.regs.Get(uint64(machine.FramePointer))
	space := t.process.space
	f := space.goFunction(trail.LookupPC(n - 1))
	changed := f == nil && reason == unwind.UnreadableMemory && !w.memory.beyond
	if !lastKnown || !known || f == nil && !changed {
		return reason
	}
	if last == 0 && f != nil && f.Name == "runtime.mcall" {
		// mcall clears the frame pointer. The scheduler's stack starts there: the goroutine that
		// called mcall does not run any more.
		return unwind.EndOfStack
	}
	if len(user) == 0 || user[0] != w.regs.PC {
		return reason
	}
	chain := user[1:]
	for fp != last {
		at := fp - w.memory.stack.Address
		if len(chain) == 0 || at+8 > uint64(len(s.UserStack)) || at+8 < at {
			return reason
		}
		fp, chain = machine.Order.Uint64(s.UserStack[at:]), chain[1:]
	}
	sure := -1 // so many callers are all Go functions; -1: all so far
	if changed {
		sure = 0
	}
	for i, ip := range chain {
		f = space.goFunction(ip - 1)
		if sure < 0 && (f == nil || strings.HasPrefix(f.Name, "runtime.sigreturn")) {
			sure = i // a function that a signal interrupted is missing after sigreturn
		}
		w.joined = append(w.joined, space.place(b, t.process, ip-1))
		switch {
		case f == nil || !f.TopFrame:
		case sure < 0:
			return unwind.EndOfStack
		default:
			return unwind.CallersMissing
		}
	}
	if w.crossed = changed && len(w.joined) > 0; sure >= 0 && !changed {
		w.joined = w.joined[:sure]
	}
	if len(w.joined) > 0 {
		return unwind.CallChain
	}
	return reason
}

// goFunction returns the Go function at an address, or nil.
func (s *space) goFunction(pc uint64) *object.GoFunction {
	f, ok := s.goFunctions[pc]
	if ok {
		return f
	}
	if module, _ := s.modules.Find(pc); module != nil {
		if m := mappedBy(module.Loaded()); m != nil && m.fits && m.file.tables.Go {
			if g, found := m.file.object.GoFunctionAt(pc - m.Bias); found {
				f = &g
			}
		}
	}
	if s.goFunctions == nil {
		s.goFunctions = make(map[uint64]*object.GoFunction)
	}
	s.goFunctions[pc] = f
	return f
}

// place returns the place of a frame with a LookupPC.
func (s *space) place(b *builder, p *process, lookup uint64) int32 {
	place, ok := s.places[lookup]
	if !ok {
		place = b.userPlace(p, lookup, false)
		s.places[lookup] = place
	}
	return place
}
