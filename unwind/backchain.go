// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

// followBackChain leaves a frame that no rules cover by the back chain. found is false
// if the frame is not known to have one.
func (w *Walker) followBackChain() (found, on bool) {
	m := w.Machine
	chain := m.BackChain
	sp, known := w.Register(uint64(m.StackPointer))
	if chain == nil || !known {
		return false, false
	}
	next, err := w.read(sp)
	interrupted := w.frame.Interrupted
	switch {
	case err != nil:
		return false, false
	case next == 0 && chain.Always && !interrupted:
		return true, w.end(EndOfStack, nil)
	case next <= sp || next%8 != 0:
		return false, false
	}
	saved, err := w.read(next + chain.ReturnAddress)
	if err != nil || interrupted && !w.hasSavedLink(saved) {
		return false, false
	}
	pc := saved & m.CodeMask
	if pc == 0 && chain.Always && !interrupted {
		return true, w.end(EndOfStack, nil)
	}
	if _, executable := w.module(pc - 1); !executable || w.callBefore(saved, nil) <= noCall {
		return false, false
	}
	// The function may have saved every other register anywhere.
	w.regs.keep(&columnSet{})
	w.fresh = w.fresh[:0]
	return true, w.commit(pc, next, sp, false)
}

// hasSavedLink reports whether an interrupted function has made its frame, in which
// saved is the slot of its return address. The address is still in the link register,
// or the function has called another since.
func (w *Walker) hasSavedLink(saved uint64) bool {
	f := w.function()
	if f.known && w.keepsStackPointer(f.start, f.pc) {
		return false
	}
	link, known := w.Register(uint64(w.Machine.ReturnAddress))
	if !known {
		return false
	}
	own, ok := f.module.functionStart(link&w.Machine.CodeMask - 1)
	return link == saved || f.known && ok && own == f.start
}
