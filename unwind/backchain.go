// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import "debug/elf"

// backChain is the link between the frames of a machine's ABI: the word at the stack
// pointer is the caller's stack pointer.
type backChain struct {
	ra     uint64 // offset from the caller's stack pointer of the return address, in bytes
	always bool   // every frame has it, and that of the first one is 0
}

// backChain returns the back chain of the walker's machine: OpenPOWER ELFv2 ABI
// §2.2.2.1 and PowerPC psABI, "The Stack Frame", whose function keeps its link register
// in its caller's frame; ELF ABI s390x Supplement, "The Stack Frame", whose function
// keeps its registers there, and sets the chain only if it was compiled with -mbackchain.
func (w *Walker) backChain() (chain backChain, ok bool) {
	m := w.Machine
	switch m.ELF {
	case elf.EM_PPC64:
		return backChain{16, true}, true
	case elf.EM_PPC:
		return backChain{4, true}, true
	case elf.EM_S390:
		return backChain{14 * uint64(m.AddressSize), false}, true
	}
	return backChain{}, false
}

// followBackChain leaves a frame that no rules cover by the back chain. It returns found
// unset where the frame is not known to have one.
func (w *Walker) followBackChain() (found, on bool) {
	m := w.Machine
	chain, ok := w.backChain()
	sp, known := w.Register(uint64(m.StackPointer))
	if !ok || !known {
		return false, false
	}
	next, err := w.read(sp)
	interrupted := w.frame.Interrupted
	switch {
	case err != nil:
		return false, false
	case next == 0 && chain.always && !interrupted:
		return true, w.end(EndOfStack, nil)
	case next <= sp || next%8 != 0:
		return false, false
	}
	saved, err := w.read(next + chain.ra)
	if err != nil || interrupted && !w.hasSavedLink(saved) {
		return false, false
	}
	pc := saved & m.CodeMask
	if pc == 0 && chain.always && !interrupted {
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
// saved is where its return address belongs: that is still in the link register, or the
// function has called another since.
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
