// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"errors"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind/internal/codeframe"
)

// mostFunction is the greatest offset in its function, in bytes, of an address for
// which rules are derived. afterFrame is the amount of code after the address that is
// followed, because it can jump back.
const (
	mostFunction = 1 << 16
	afterFrame   = 1 << 12
)

// decodedWork is the work of following one instruction, in reads of a register.
const decodedWork = 8

// derive returns rules for an address without rules, made from the instructions of its
// function. err explains why it has no rules. derive returns nil if the function is not
// known, or if its code does not determine the distance from the stack pointer to the CFA.
func (w *Walker) derive(module *Module, pc, lookup uint64, err error) *Rules {
	if !errors.Is(err, cfi.ErrNoFDE) || errors.Is(err, ErrMovesStack) {
		return nil
	}
	rules := w.analysed(module, pc, lookup)
	if rules != nil && !rules.loses(w.Machine.FramePointer) {
		return rules
	}
	// Perhaps it is the first function of a stack, which sets the frame pointer to zero.
	if first := w.codeframe(module, pc, lookup); first != nil && (rules == nil || first.zeroed || first.first) {
		return first
	}
	return rules
}

// analysed returns the rules of Module.Analyze for a frame, nil if there are none.
func (w *Walker) analysed(module *Module, pc, lookup uint64) *Rules {
	if module == nil || module.Analyze == nil {
		return nil
	}
	rules := module.Analyze(lookup - module.Bias)
	if rules == nil {
		return nil
	}
	own := *rules
	own.derived, own.analysed, own.zeroed, own.first = true, true, false, false
	if lookup != pc && own.CFA.Kind == cfi.Register && int(own.CFA.Register) == w.Machine.StackPointer {
		// The called function overwrites what is below the stack pointer.
		own.Registers = slices.Clone(own.Registers)
		for i := range own.Registers {
			if r := &own.Registers[i].Rule; r.Kind == cfi.Offset && own.CFA.Offset+r.Offset < 0 {
				*r = cfi.Rule{Kind: cfi.Undefined}
			}
		}
		if own.endsStack() {
			return nil
		}
	}
	return &own
}

// loses reports whether the rules say that the value of a column is lost.
func (r *Rules) loses(column int) bool {
	return slices.ContainsFunc(r.Registers, func(rule cfi.RegisterRule) bool {
		return int(rule.Column) == column && rule.Kind == cfi.Undefined
	})
}

// codeframe returns the rules that package codeframe finds, nil if it finds none.
//
// Only x86-64 is analysed. On i386 a function can pop its arguments, which its callers'
// code does not show. The compilers of other machines keep a frame record or a back
// chain.
func (w *Walker) codeframe(module *Module, pc, lookup uint64) *Rules {
	m := w.Machine
	if !codeframe.Knows(m) || m.AddressSize != 8 {
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

// codeOf returns the code from the start of a function to a frame's address, and the
// readable code after it. It returns nil if the code before the address cannot be read.
func (w *Walker) codeOf(start, pc uint64) []byte {
	code := make([]byte, pc-start, pc-start+afterFrame)
	if w.readCode(code, start) != nil {
		return nil
	}
	// The code can end anywhere: a file is readable up to its last byte, memory by
	// pages.
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

// applyDerived leaves the frame by rules that were derived from the code. found is
// false if the presumed return address does not follow a call, or follows one that may
// be of another function.
func (w *Walker) applyDerived(r *Rules) (found, on bool) {
	if r.first {
		return true, w.end(EndOfStack, nil)
	}
	cfa, err := r.FrameAddress(w.Machine, w, &w.eval)
	if err != nil {
		return false, false
	}
	sp, known := w.stackPointer()
	slot, inMemory := r.returnSlot(cfa)
	if below := inMemory && slot < sp || cfa < sp; !known && !r.analysed || below {
		if known && r.zeroed {
			return true, w.end(EndOfStack, nil) // it has popped its return address
		}
		return false, false
	}
	pc, err := w.derivedReturn(r, cfa)
	f := w.function()
	how := unknownCode
	if _, executable := w.module(pc - 1); err == nil && executable {
		how = w.callBefore(pc, &f)
	}
	switch {
	case how > noCall && (how == callsIt || w.leadsOn(pc, cfa, r)):
	case how <= noCall && r.zeroed:
		return true, w.end(EndOfStack, nil)
	case how == noCall && w.returnsToTrampoline(pc):
	default:
		return false, false
	}
	byRecord := int(r.CFA.Register) == w.Machine.FramePointer && r.CFA.Kind == cfi.Register // the function has made it
	byItsTop := w.frame.Interrupted && !byRecord && r.CFA.Offset == int64(w.Machine.RegisterSize)
	w.guessed = false
	if on = w.apply(r); !on {
		return true, false
	}
	w.frame.Gap, w.guessed = how == callsOther && !byRecord, how != callsIt
	switch w.frame.Method = FromCode; {
	case r.analysed:
	case byRecord:
		w.frame.Method = FromFramePointer
	case byItsTop:
		w.frame.Method = FromReturnAddress
	}
	return true, true
}

// returnSlot returns the slot of the return address. ok is false if it is not in the frame.
func (r *Rules) returnSlot(cfa uint64) (slot uint64, ok bool) {
	rule := r.returnRule()
	if rule == nil || rule.Kind != cfi.Offset {
		return 0, false
	}
	return cfa + uint64(rule.Offset), true
}

// derivedReturn returns the return address that derived rules give.
func (w *Walker) derivedReturn(r *Rules, cfa uint64) (uint64, error) {
	rule := r.returnRule()
	if rule == nil || rule.Kind == cfi.SameValue {
		// A function that waits for a call to return has overwritten the link register.
		v, known := w.Register(r.ReturnAddress)
		if !known || !w.frame.Interrupted {
			return 0, errNoValue
		}
		return w.unsign(r, v), nil
	}
	v, err := w.value(r, rule.Rule, r.ReturnAddress, cfa)
	return w.unsign(r, v), err
}

func (w *Walker) unsign(r *Rules, pc uint64) uint64 {
	if r.Signed {
		return unsigned(pc)
	}
	return pc
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

// mostJumps is the number of functions that are searched for a jump to another, and
// mostJumping the number of bytes that are searched of each.
const (
	mostJumps   = 4
	mostJumping = mostPrologue
)

// jumpsTo returns how the code at an address leads to the function by tail calls:
// callsIt for a jump to it, aCall for a jump with an unknown target, and callsOther if
// there is no such jump.
func (w *Walker) jumpsTo(f *function, at uint64) leadsTo {
	if !codeframe.Knows(w.Machine) || !f.known {
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
