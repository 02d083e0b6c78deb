// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"errors"

	"github.com/clewdev/clew/cfi"
)

// ErrMovesStack is wrapped by the error of a Source for a function that moves the stack
// pointer in a way that no rules describe. The walker then does not use a
// word on the stack of an interrupted frame as its return address.
var ErrMovesStack = errors.New("the function moves the stack pointer")

// returnAddress leaves an interrupted frame that no rules cover by the return address
// that a call has left at the stack pointer or in the link register. found is false if
// there is none, or if the frame pointer is more reliable.
//
// It checks only that one word, because a search would find the return addresses of
// earlier calls.
func (w *Walker) returnAddress() (found, on bool) {
	if err := w.why(&w.frame); !errors.Is(err, cfi.ErrNoFDE) || errors.Is(err, ErrMovesStack) {
		return false, false
	}
	sp, known := w.Register(uint64(w.Machine.StackPointer))
	if !known {
		return false, false
	}
	f := w.function()
	if w.Machine.PushesReturns() && w.Machine.KnowsCalls() {
		return w.pushed(&f, sp)
	}
	return w.linked(&f, sp)
}

// pushed leaves the frame on machines on which calls push the return address.
func (w *Walker) pushed(f *function, sp uint64) (found, on bool) {
	depth, certain := uint64(0), w.Machine.Returns(w.code(f.pc, 2))
	if f.known && !certain {
		depth, certain = w.Machine.AtEntry(w.code(f.start, 16), f.pc-f.start)
		if !certain && w.setsFramePointer(f.start, f.pc) {
			return false, false // the return address is in the frame record
		}
	}
	pc, err := w.read(sp + depth)
	if _, executable := w.module(pc - 1); err != nil || !executable {
		return false, false
	}
	next := sp + depth + uint64(w.Machine.RegisterSize)
	how := w.callBefore(pc, f)
	if !certain {
		if how <= noCall || !f.known && w.setsFramePointer(w.calledStart(pc), f.pc) {
			return false, false
		}
		// An earlier call can have left it in memory that the function has reserved.
		if how != callsIt && !w.leadsOn(pc, next, nil) {
			return false, false
		}
	}
	// If the return address is on top, the function has saved no register, and the
	// callee-saved registers are unchanged.
	w.fresh = w.fresh[:0]
	on = w.commit(pc, next, sp, false)
	w.frame.Gap, w.guessed = how == callsOther, !certain && how != callsIt
	return true, on
}

// mostPrologue bounds the search for the instruction that sets the frame pointer, in
// bytes from the start of the function. V8 makes frames after some 200 bytes.
const mostPrologue = 512

// setsFramePointer reports whether the first instructions of a function, up to an
// address, set the frame pointer.
func (w *Walker) setsFramePointer(start, pc uint64) bool {
	unit := w.Machine.InstructionUnit()
	if unit == 0 || start == 0 || pc < start {
		return false
	}
	code := w.bytes[:min(pc-start, mostPrologue)]
	if w.readCode(code, start) != nil {
		return false
	}
	for ; len(code) > 0; code = code[min(unit, len(code)):] {
		if _, ok := w.Machine.SetsFramePointer(code); ok {
			return true
		}
	}
	return false
}

// leadsOn reports whether the frame that a call returns to can be left by its rules:
// the return address that they give follows a call. It returns true if that is not
// known. left are the rules by which the current frame is left, nil if it has changed no
// register but the stack pointer.
func (w *Walker) leadsOn(pc, sp uint64, left *Rules) bool {
	module, _ := w.module(pc - 1)
	r, _, err := rulesAt(module, pc-1, pc)
	if err != nil || r.CFA.Kind != cfi.Register {
		return true
	}
	base := sp
	if int(r.CFA.Register) != w.Machine.StackPointer {
		v, err := w.restored(left, r.CFA.Register, sp)
		if err != nil {
			return false
		}
		base = v
	}
	rule := r.returnRule()
	if rule == nil || rule.Kind != cfi.Offset {
		return true
	}
	v, err := w.read(w.truncate(base + uint64(r.CFA.Offset+rule.Offset)))
	return err == nil && w.isReturnAddress(v)
}

// restored returns the value of a register after a frame is left by rules, given its CFA.
func (w *Walker) restored(r *Rules, column uint32, cfa uint64) (uint64, error) {
	rule := cfi.Rule{Kind: cfi.SameValue}
	if r != nil {
		for i := range r.Registers {
			if r.Registers[i].Column == column {
				rule = r.Registers[i].Rule
			}
		}
	}
	if rule.Kind == cfi.Undefined {
		return 0, errNoValue
	}
	return w.value(r, rule, uint64(column), cfa)
}

// isReturnAddress reports whether an address can be a return address: it follows a
// call, or a signal handler or the first function of a stack returns to it.
func (w *Walker) isReturnAddress(pc uint64) bool {
	module, executable := w.module(pc - 1)
	if w.atSigreturn(pc) {
		return true
	}
	if !executable {
		module, executable = w.module(pc)
	}
	if !executable {
		return false
	}
	if r, atPC, err := rulesAt(module, pc-1, pc); err == nil && (atPC || r.SignalFrame || r.endsStack()) {
		return true
	}
	return w.callBefore(pc, nil) != noCall
}

// returnRule returns the rule of the return address, nil if it has none.
func (r *Rules) returnRule() *cfi.RegisterRule {
	for i := range r.Registers {
		if rule := &r.Registers[i]; uint64(rule.Column) == r.ReturnAddress {
			return rule
		}
	}
	return nil
}

// endsStack reports whether the rules call the return address undefined.
func (r *Rules) endsStack() bool {
	rule := r.returnRule()
	return rule != nil && rule.Kind == cfi.Undefined
}

// linked leaves the frame on machines on which calls set a link register. The register
// holds the return address until the function itself calls another.
func (w *Walker) linked(f *function, sp uint64) (found, on bool) {
	m := w.Machine
	if m.ReturnAddress < 0 || m.PushesReturns() || !m.KnowsCalls() {
		return false, false
	}
	raw, known := w.Register(uint64(m.ReturnAddress))
	if m.SignsReturns {
		raw = unsigned(raw)
	}
	pc := raw & m.CodeMask
	module, executable := w.module(pc - 1)
	if !known || !executable {
		return false, false
	}
	how := w.callBefore(raw, f)
	if how <= noCall {
		return false, false
	}
	start := f.start
	switch {
	case f.known:
		if own, ok := module.functionStart(pc - 1); ok && own == f.start && f.pc != f.start {
			return false, false // the function itself has made a call
		}
	case module == f.module:
		if start = w.calledStart(raw); !w.isIn(f, start, pc) {
			return false, false
		}
	default:
		start = 0
	}
	exact := w.keepsStackPointer(start, f.pc)
	fp, hasFP := uint64(0), false
	if m.FramePointer >= 0 {
		fp, hasFP = w.Register(uint64(m.FramePointer))
	}
	if !exact {
		// It can have saved any register in its frame. AAPCS64 §6.4.6 keeps the frame
		// pointer for frame records.
		w.regs.keep(&columnSet{})
	}
	w.fresh = w.fresh[:0]
	if hasFP {
		w.fresh = append(w.fresh, columnValue{uint64(m.FramePointer), fp, true})
	}
	on = w.commit(w.returnsTo(raw), sp, sp, false)
	if on && !exact {
		w.forgetStackPointer()
	}
	w.frame.Gap = how == callsOther
	return true, on
}

// calledStart returns the target of the call before a return address, 0 if the
// instruction does not contain it.
func (w *Walker) calledStart(returns uint64) uint64 {
	call, _, _ := w.call(returns)
	return call.Target
}

// isIn reports whether a called function without a symbol is the function of the frame,
// and not that of the call. It is if the call is before it, or if no function ends
// between its start and the frame's PC.
func (w *Walker) isIn(f *function, start, returns uint64) bool {
	const most = 1 << 14
	if start == 0 || start > f.pc || f.pc-start > most || returns > start && returns <= f.pc {
		return false
	}
	if returns <= start {
		return true
	}
	for at := start; at < f.pc; at += 4 {
		code := w.code(at, 4)
		if len(code) < 4 || w.Machine.Returns(code) {
			return false
		}
	}
	return w.Machine.KnowsReturns()
}

// keepsStackPointer reports whether the stack pointer still has its value from the
// entry of the function.
func (w *Walker) keepsStackPointer(start, pc uint64) bool {
	const most = 1 << 14
	if start == 0 || pc-start > most || pc < start {
		return false
	}
	for start < pc {
		code := w.bytes[:min(pc-start, uint64(len(w.bytes)))]
		if w.readCode(code, start) != nil || !w.Machine.KeepsStackPointer(code) {
			return false
		}
		start += uint64(len(code))
	}
	return true
}
