// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import "github.com/clewdev/clew/arch"

// leadsTo is the relation of the instruction before a return address to a function.
type leadsTo uint8

const (
	unknownCode leadsTo = iota // the code cannot be read, or its machine's calls are not known
	noCall                     // the instruction is not a call
	aCall                      // a call, which may be one of the function
	callsOther                 // a call of another function
	callsIt                    // a call of the function
)

// function is the function of a frame that no rules cover. Only its pc is always known.
type function struct {
	module *Module
	pc     uint64 // of the frame
	start  uint64 // run-time address, where known is set
	known  bool
}

// function returns the function of the current frame.
func (w *Walker) function() function {
	f := function{module: w.frame.Module, pc: w.frame.LookupPC}
	f.start, f.known = f.module.functionStart(f.pc)
	return f
}

// functionStart returns the start of the function that contains a run-time address of a
// module.
func (m *Module) functionStart(pc uint64) (uint64, bool) {
	if m == nil || m.Loaded().Function == nil {
		return 0, false
	}
	start, ok := m.Function(pc - m.Bias)
	return start + m.Bias, ok
}

// readCode reads code. The walk does not depend on it as on data: see CodeMemory.
func (w *Walker) readCode(p []byte, addr uint64) error {
	if m, ok := w.Memory.(CodeMemory); ok {
		return m.ReadCode(p, addr)
	}
	return w.readMemory(p, addr)
}

// code returns at most n bytes of code from an address on, and fewer at the end of
// readable memory. They are valid until the next call.
func (w *Walker) code(addr uint64, n int) []byte {
	for ; n > 0; n /= 2 {
		if b := w.bytes[:n]; w.readCode(b, addr) == nil {
			return b
		}
	}
	return nil
}

// call returns the call instruction before a return address. ok reports whether there
// is one, readable whether the code can be read. On arm an odd address is one of Thumb
// code.
func (w *Walker) call(returns uint64) (c arch.Call, readable, ok bool) {
	if !w.Machine.KnowsCalls() {
		return c, false, false
	}
	at := returns & w.Machine.CodeMask
	for n := uint64(arch.MaxCallSize); n >= 2; n -= 2 {
		if b := w.bytes[:n]; w.readCode(b, at-n) == nil {
			c, ok = w.Machine.CallBefore(b, returns)
			return c, true, ok
		}
	}
	return c, false, false
}

// callBefore returns how the instruction before a return address leads to a function. f
// may be nil: then any call counts.
func (w *Walker) callBefore(returns uint64, f *function) leadsTo {
	call, readable, ok := w.call(returns)
	switch {
	case !readable:
		return unknownCode
	case !ok:
		return noCall
	case !call.Direct || f == nil:
		return aCall
	}
	target := call.Target & w.Machine.CodeMask
	if stub, ok := w.Machine.Stub(w.code(target, 16), target); ok && !stub.FromGOT {
		if target, ok = w.slot(stub.Slot); !ok || !(f.known && target == f.start) && !w.startsFunction(target) {
			return aCall
		}
	}
	if f.calledAt(target, w) == callsIt {
		return callsIt
	}
	if to, ok := w.Machine.JumpTarget(w.code(target, 16), target); ok {
		target = to // a function that only calls another in place of its return
	}
	if how := f.calledAt(target, w); how != callsOther {
		return how
	}
	return w.jumpsTo(f, target)
}

// slot reads a word of the global offset table.
func (w *Walker) slot(addr uint64) (uint64, bool) {
	b := w.bytes[:w.Machine.AddressSize]
	if w.readCode(b, addr) != nil {
		return 0, false
	}
	return w.uint(b), true
}

// startsFunction reports whether a function is known to start at a run-time address.
// A slot that is not resolved yet, as in a file, holds another address.
func (w *Walker) startsFunction(pc uint64) bool {
	m, _ := w.module(pc)
	start, ok := m.functionStart(pc)
	return ok && start == pc
}

// calledAt returns how a call of an address leads to the function.
func (f *function) calledAt(target uint64, w *Walker) leadsTo {
	switch at := target - f.start; {
	case f.known && at <= w.Machine.LocalEntry:
		return callsIt
	case f.known || target > f.pc:
		return callsOther
	}
	// The function is not known. It can start at the target unless another is known to.
	m, _ := w.module(target)
	if m != f.module {
		return callsOther
	}
	if _, _, err := rulesAt(m, target, target); err == nil {
		return callsOther
	}
	return aCall
}
