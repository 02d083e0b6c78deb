// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"debug/elf"
	"errors"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind/internal/codeframe"
)

// mostFunction is how far into its function, in bytes, an address can be for its rules
// to be derived; afterFrame is how much of the code after the address is followed, which
// can jump back to before it.
const (
	mostFunction = 1 << 16
	afterFrame   = 1 << 12
)

// decodedWork is how many reads of a register an instruction counts as that is followed.
const decodedWork = 8

// derive returns rules for an address that has none, for the reason err: those that
// follow from the instructions of its function. It returns nil where the function is not
// known, or its code does not say how far the stack pointer is below the CFA.
//
// Only x86-64 is analysed: on i386 a function can pop its arguments, which its callers'
// code does not show; the other machines' compilers keep a frame record or a back chain.
func (w *Walker) derive(module *Module, pc, lookup uint64, err error) *Rules {
	m := w.Machine
	if m.ELF != elf.EM_X86_64 || m.AddressSize != 8 || !errors.Is(err, cfi.ErrNoFDE) || errors.Is(err, ErrMovesStack) {
		return nil
	}
	start, ok := module.functionStart(lookup)
	if !ok || pc < start || pc-start > mostFunction {
		return nil
	}
	code := w.codeOf(start, pc)
	if code == nil {
		return nil
	}
	f, decoded, ok := codeframe.Find(code, int(pc-start), lookup != pc)
	w.reads += decodedWork * decoded // of mayWork
	if !ok {
		return nil
	}
	rules := &Rules{CFA: cfi.Rule{Kind: cfi.Register, Register: uint32(f.CFA), Offset: f.Offset},
		ReturnAddress: uint64(m.ReturnAddress), derived: true, zeroed: f.Zeroed, first: f.First}
	for _, slot := range f.Saved {
		rule := cfi.Rule{Kind: cfi.Offset, Offset: slot.Offset}
		if slot.Lost {
			rule = cfi.Rule{Kind: cfi.Undefined}
		}
		rules.Registers = append(rules.Registers, cfi.RegisterRule{Column: uint32(slot.Column), Rule: rule})
	}
	rules.Registers = append(rules.Registers, cfi.RegisterRule{Column: uint32(m.ReturnAddress), Rule: cfi.Rule{Kind: cfi.Offset, Offset: -8}})
	return rules
}

// codeOf returns the code from the start of a function to a frame's address, and what can
// be read of that after it. It returns nil where the former cannot be read.
func (w *Walker) codeOf(start, pc uint64) []byte {
	code := make([]byte, pc-start, pc-start+afterFrame)
	if w.readCode(code, start) != nil {
		return nil
	}
	// The code can end anywhere; files are read up to their last byte, memory by pages.
	for piece := uint64(afterFrame / 4); piece >= 64; {
		at := uint64(len(code))
		if at+piece > uint64(cap(code)) {
			break
		}
		if w.readCode(code[at:at+piece], start+at) == nil {
			code = code[:at+piece]
		} else {
			piece /= 2
		}
	}
	return code
}

// applyDerived leaves the frame by rules that follow from the code. It returns found
// unset where the word that they say is the return address follows no call, or one that
// may be another's.
func (w *Walker) applyDerived(r *Rules) (found, on bool) {
	if r.first {
		return true, w.end(EndOfStack, nil)
	}
	cfa, err := r.FrameAddress(w.Machine, w, &w.eval)
	if err != nil {
		return false, false
	}
	sp, known := w.stackPointer()
	if below := cfa-uint64(w.Machine.RegisterSize) < sp; !known || below {
		if known && r.zeroed {
			return true, w.end(EndOfStack, nil) // it has popped what it returns to
		}
		return false, false
	}
	pc, err := w.read(cfa - uint64(w.Machine.RegisterSize))
	f := w.function()
	how := unknownCode
	if _, executable := w.module(pc - 1); err == nil && executable {
		how = w.callBefore(pc, &f)
	}
	switch {
	case how > noCall && (how == callsIt || w.leadsOn(pc, cfa)):
	case how <= noCall && r.zeroed:
		return true, w.end(EndOfStack, nil)
	case how == noCall && w.returnsToTrampoline(pc):
	default:
		return false, false
	}
	byRecord := int(r.CFA.Register) == w.Machine.FramePointer // which the function has made
	byItsTop := w.frame.Interrupted && !byRecord && r.CFA.Offset == int64(w.Machine.RegisterSize)
	w.guessed = false
	if on = w.apply(r); !on {
		return true, false
	}
	w.frame.Gap, w.guessed = how == callsOther && !byRecord, how != callsIt
	switch w.frame.Method = FromCode; {
	case byRecord:
		w.frame.Method = FromFramePointer
	case byItsTop:
		w.frame.Method = FromReturnAddress
	}
	return true, true
}

// returnsToTrampoline reports whether an address is that of a signal trampoline, which
// signal handlers return to.
func (w *Walker) returnsToTrampoline(pc uint64) bool {
	module, executable := w.module(pc)
	if !executable {
		return false
	}
	r, _, err := rulesAt(module, pc, pc)
	return w.atSigreturn(pc) || err == nil && r.SignalFrame
}

// mostJumps is how many functions are looked at that can lead to another by jumps, and
// mostJumping how much of each, in bytes.
const (
	mostJumps   = 4
	mostJumping = mostPrologue
)

// jumpsTo returns how the code at an address leads to the function by jumps, as functions
// do that call another in place of their return: callsIt, aCall where a jump does not
// name its target, and callsOther where there is no such jump.
func (w *Walker) jumpsTo(f *function, at uint64) leadsTo {
	if w.Machine.ELF != elf.EM_X86_64 || !f.known {
		return callsOther
	}
	for range mostJumps {
		code := w.code(at, mostJumping)
		to, how := codeframe.Jump(code, f.start-at)
		switch how {
		case codeframe.Found:
			return callsIt
		case codeframe.Indirect:
			return aCall
		case codeframe.None:
			return callsOther
		}
		at += to
	}
	return callsOther
}
