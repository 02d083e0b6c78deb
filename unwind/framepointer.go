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

// forgetStackPointer says that the stack pointer of the frame that the registers now are
// of is at least what it is, and not more, unless the rules of that frame tell.
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

// missesCaller reports whether the record can be another function's than that of the
// current frame, which then is not known to have made one: the return address in it is
// that of a caller's. Nothing is known of generated code.
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

// verify checks the return address of a frame whose stack pointer was only found by a
// convention that its callee need not have followed: a function that aligns its stack
// copies its return address (gcc's DRAP), and an interrupted one can have another
// return address on top. It ends the walk where the word follows no call.
func (w *Walker) verify(r *Rules, pc uint64) bool {
	if r.CFA.Kind == cfi.Register && int(r.CFA.Register) != w.Machine.StackPointer || w.isReturnAddress(pc) {
		return true
	}
	return w.end(NoRule, fmt.Errorf("%#x, where the rules of the frame at %#x have its return address, follows no call, and its stack pointer is not certain (by %v)",
		pc, w.regs.PC, w.frame.Method))
}

// mostScan is how far from the start of its function, in bytes, the instruction that
// sets a frame's frame pointer is looked for.
const mostScan = 1 << 16

// mostSets is how many instructions that set the frame pointer are looked at in one
// function: each takes the function's table from its start. Compilers make one or two.
const mostSets = 16

// spByRecord returns the stack pointer of a frame whose callee was left by its frame
// pointer or its link register. The rules say how far from the stack pointer they have
// the frame record, and the frame pointer says where that is, where the function has
// set it.
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

// errBound is why the CFA of a frame is not known of whose stack pointer only a lower
// bound is.
func (w *Walker) errBound(err error) error {
	sp, known := w.stackPointer()
	if known {
		return err
	}
	return fmt.Errorf("%w, only that it is at least %#x (the frame before was left by %v)", err, sp, w.frame.Method)
}

// savedFramePointer returns where from the CFA the rules have the frame pointer, where
// the return address is beside it as in a frame record.
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

// recordIsSet reports whether a frame's function has made the frame pointer lead to the
// record in which its rules have it saved, at an offset from the CFA: by an instruction
// before the frame's place, at which rules say how far the stack pointer was from the CFA.
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
