// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// framePointer leaves the current frame, which no rules cover, by its frame
// pointer.
func (w *Walker) framePointer() bool {
	m := w.Machine
	record := m.FrameRecord
	if record == nil {
		return w.end(NoRule, w.why(&w.frame))
	}
	fp, known := w.Register(uint64(m.FramePointer))
	sp, _ := w.stackPointer()
	word := uint64(m.RegisterSize)
	switch {
	case known && fp == 0 && w.frame.Method == FromFramePointer:
		// The outermost frame's is zero (psABI amd64 §3.4.1).
		return w.end(EndOfStack, nil)
	case !known || fp < sp || fp%word != 0:
		return w.end(NoRule, fmt.Errorf("%w; and %s holds no frame pointer (%#x, stack pointer %#x)",
			w.why(&w.frame), m.RegisterName(uint64(m.FramePointer)), fp, sp))
	}
	at := func(words int64) uint64 { return fp + uint64(words*int64(word)) }
	next, err := w.read(at(record.FP))
	var pc uint64
	if err == nil {
		pc, err = w.read(at(record.RA))
	}
	if err != nil {
		return w.end(UnreadableMemory, fmt.Errorf("%w; and by the frame pointer: %w", w.why(&w.frame), err))
	}
	if m.SignsReturns {
		pc = unsigned(pc)
	}
	if _, executable := w.module(pc - 1); !executable {
		if pc == 0 {
			return w.end(EndOfStack, nil)
		}
		return w.end(NoRule, fmt.Errorf("%w; and the frame pointer leads to %#x, which is not code", w.why(&w.frame), pc))
	}
	gap := w.missesCaller(pc)
	// The function may have changed every other register and saved it anywhere.
	w.regs.keep(&columnSet{})
	w.fresh = append(w.fresh[:0], columnValue{uint64(m.FramePointer), next, true})
	if !w.commit(pc, at(record.CFA), sp, false) {
		return false
	}
	w.frame.Gap, w.guessed = gap, record.Exact
	if !record.Exact {
		w.forgetStackPointer()
	}
	return true
}

// forgetStackPointer makes the current stack pointer only a lower bound, unless the
// rules of the current frame determine it.
func (w *Walker) forgetStackPointer() {
	column := uint64(w.Machine.StackPointer)
	bound := w.regs.values[column]
	w.regs.Forget(column) // its value stays as the bound
	if e, module := w.know(w.regs.PC, false); e.is&hasRules != 0 {
		if sp, ok := w.spByRecord(e.rules, module, e.lookup(false)); ok && sp >= bound {
			w.regs.Set(column, sp)
		}
	}
}

// missesCaller reports whether the frame record can belong to another function than the
// current frame's. That function is then not known to have made one, and the return
// address in the record is a caller's. For generated code the answer is not known.
func (w *Walker) missesCaller(returns uint64) bool {
	f := w.function()
	if f.module == nil || f.module.Function == nil {
		return false
	}
	start, how := f.start, w.callBefore(returns, &f)
	if !f.known && how == aCall {
		start = w.calledStart(returns)
	}
	return how != callsIt && !w.setsFramePointer(start, f.pc)
}

// verify checks the return address of a frame with a stack pointer that was found by a
// convention only. The callee need not have followed it: a function that aligns its
// stack copies its return address (gcc's DRAP), and an interrupted one can have another
// return address on top. verify ends the walk if the word does not follow a call.
func (w *Walker) verify(r *Rules, pc uint64) bool {
	if r.CFA.Kind == cfi.Register && int(r.CFA.Register) != w.Machine.StackPointer || w.isReturnAddress(pc) {
		return true
	}
	return w.end(NoRule, fmt.Errorf("%#x, the return address by the rules of the frame at %#x, does not follow a call, and the stack pointer is not certain (by %v)",
		pc, w.regs.PC, w.frame.Method))
}

// mostScan bounds the search for the instruction that sets the frame pointer, in bytes
// from the start of the function.
const mostScan = 1 << 16

// mostSets bounds the instructions that set the frame pointer and are checked in one
// function: each check reads the function's table from its start. Compilers make one or
// two.
const mostSets = 16

// spByRecord returns the stack pointer of a frame that was reached by a frame pointer
// or a link register. The rules give the distance from the stack pointer to the frame
// record, and the frame pointer gives the record's address if the function has set it.
func (w *Walker) spByRecord(r *Rules, module *Module, lookup uint64) (uint64, bool) {
	m := w.Machine
	record := m.FrameRecord
	if record == nil || r.CFA.Kind != cfi.Register || int(r.CFA.Register) != m.StackPointer {
		return 0, false
	}
	saved, isSaved := r.savedFramePointer(m, record)
	fp, known := w.Register(uint64(m.FramePointer))
	if !isSaved || !known || !w.recordIsSet(module, lookup, saved, record) {
		return 0, false
	}
	// The slot of the frame pointer is at CFA+saved, and in the record.
	slot := fp + uint64(record.FP*int64(m.RegisterSize))
	return w.truncate(slot - uint64(saved) - uint64(r.CFA.Offset)), true
}

// errBound returns the error for the CFA of a frame when only a lower bound of its
// stack pointer is known.
func (w *Walker) errBound(err error) error {
	sp, known := w.stackPointer()
	if known {
		return err
	}
	return fmt.Errorf("%w, only that it is at least %#x (the previous frame was left by %v)", err, sp, w.frame.Method)
}

// savedFramePointer returns the offset from the CFA of the saved frame pointer. ok is
// false unless the return address is beside it as in a frame record.
func (r *Rules) savedFramePointer(m *arch.Machine, record *arch.FrameRecord) (offset int64, ok bool) {
	var fp, ra cfi.Rule
	for i := range r.Registers {
		switch rule := &r.Registers[i]; {
		case int(rule.Column) == m.FramePointer:
			fp = rule.Rule
		case uint64(rule.Column) == r.ReturnAddress:
			ra = rule.Rule
		}
	}
	word := int64(m.RegisterSize)
	return fp.Offset, fp.Kind == cfi.Offset && ra.Kind == cfi.Offset && ra.Offset-fp.Offset == word*(record.RA-record.FP)
}

// recordIsSet reports whether a frame's function has set the frame pointer to the
// record that its rules describe, at the offset saved from the CFA. An instruction
// before the frame's address must have set it, and its rules must give the distance
// from the stack pointer to the CFA.
func (w *Walker) recordIsSet(module *Module, lookup uint64, saved int64, record *arch.FrameRecord) bool {
	m := w.Machine
	start, ok := module.functionStart(lookup)
	unit := uint64(m.InstructionUnit())
	if !ok || unit < 2 || lookup < start || lookup-start > mostScan {
		return false
	}
	word := int64(m.RegisterSize)
	sets := 0
	for at := start; at+unit <= lookup; {
		n := min(lookup-at, uint64(len(w.bytes)))
		code := w.bytes[:n]
		w.reads += 8 // of mayWork, though code is no register
		if w.readCode(code, at) != nil {
			return false
		}
		for ; uint64(len(code)) >= unit; code, at = code[unit:], at+unit {
			offset, ok := m.SetsFramePointer(code)
			if !ok {
				continue
			}
			if sets++; sets > mostSets {
				return false
			}
			then, _, err := rulesAt(module, at, at)
			// The frame pointer is at CFA-then.CFA.Offset+offset, its slot in the record.
			if err == nil && then.CFA.Kind == cfi.Register && int(then.CFA.Register) == m.StackPointer &&
				offset+record.FP*word-then.CFA.Offset == saved {
				return true
			}
		}
	}
	return false
}

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
