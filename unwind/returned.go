// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

// hasReturned reports whether the interrupted frame is in the delay slot of SPARC's
// return instruction, which has already restored the caller's register window. The
// rules there are still those of the callee's window (The SPARC Architecture Manual,
// Version 9, A.45).
func (w *Walker) hasReturned() bool {
	if w.Machine.ReturnOffset == 0 {
		return false
	}
	code := w.bytes[:4]
	return w.readCode(code, w.frame.PC-4) == nil && w.Machine.RestoresWindow(code)
}

// leaveReturned leaves such a frame. Its registers are those of its caller, and the
// address of the call is in o7.
func (w *Walker) leaveReturned() bool {
	sp, _ := w.stackPointer()
	pc, known := w.Register(uint64(w.Machine.ReturnAddress))
	if !known {
		return w.end(NoRule, returnError(w.regs.PC, errNoValue))
	}
	w.fresh = w.fresh[:0]
	return w.commit(w.returnsTo(pc), sp, sp, false)
}
