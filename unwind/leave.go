// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind/internal/codeframe"
)

// leave replaces the registers by those of the frame's caller, and sets the fields of
// the frame that do not follow from the registers.
func (w *Walker) leave(is facts, rules *Rules) bool {
	f := &w.frame
	f.Trampoline, f.Gap = is&isTrampoline != 0, false
	executable := is&isExecutable != 0
	if is&isReturnedTo != 0 {
		if w.isFirst(rules) {
			return w.end(EndOfStack, nil)
		}
		rules = nil
	}
	switch {
	case f.Interrupted && w.hasReturned():
		if !w.leaveReturned() {
			return false
		}
		f.Method, rules = FromReturnAddress, nil
	case rules != nil && rules.derived:
		if found, on := w.applyDerived(rules); found {
			if !on {
				return false
			}
			break
		}
		if !w.leaveWithoutRules(!rules.analysed) {
			return false
		}
		rules = nil
	case rules != nil:
		if !w.apply(rules) {
			return false
		}
		f.Method = FromCFI
	case f.Trampoline:
		if !w.sigreturn() {
			return false
		}
		f.Method = FromSignal
	case !executable && f.Interrupted && w.badCall():
		f.Method = FromCall
	case !executable && !f.Interrupted:
		return w.end(NoRule, fmt.Errorf("the return address %#x of the previous frame is not code", f.PC))
	default:
		if !w.leaveWithoutRules(true) {
			return false
		}
	}
	f.Interrupted = f.Trampoline || rules != nil && rules.Interrupts
	return true
}

// leaveWithoutRules leaves a frame that no rules cover. If byWord is false, an analysis of its
// code shows that its return address is not where an interrupted function without a frame
// has it.
func (w *Walker) leaveWithoutRules(byWord bool) bool {
	f := &w.frame
	if found, on := w.followBackChain(); found {
		f.Method = FromBackChain
		return on
	}
	if f.Interrupted && byWord {
		if found, on := w.returnAddress(); found {
			f.Method = FromReturnAddress
			return on
		}
	}
	if !w.framePointer() {
		return false
	}
	f.Method = FromFramePointer
	return true
}

// stackPointer returns the stack pointer, or a lower bound of it if it is not known.
func (w *Walker) stackPointer() (sp uint64, known bool) {
	column := uint64(w.Machine.StackPointer)
	_, known = w.Register(column)
	return w.regs.values[column], known
}

// apply replaces the registers by those of the caller.
func (w *Walker) apply(r *Rules) bool {
	sp, _ := w.stackPointer()
	cfa, err := r.FrameAddress(w.Machine, w, &w.eval)
	if err != nil {
		if r.endsStack() {
			return w.end(EndOfStack, nil)
		}
		return w.end(reasonOf(err), fmt.Errorf("the CFA of the frame at %#x: %w", w.regs.PC, w.errBound(err)))
	}
	w.fresh = w.fresh[:0]
	returns := columnValue{column: r.ReturnAddress}
	has, ruled := false, false
	for i := range r.Registers {
		rule := &r.Registers[i]
		v, err := w.value(r, rule.Rule, uint64(rule.Column), cfa)
		if err != nil && rule.Kind == cfi.Offset && cfa+uint64(rule.Offset) < sp {
			v, err = w.popped(uint64(rule.Column), err)
		}
		if uint64(rule.Column) == r.ReturnAddress {
			if rule.Kind == cfi.Undefined {
				return w.end(EndOfStack, nil)
			}
			if err != nil {
				return w.end(reasonOf(err), returnError(w.regs.PC, err))
			}
			// A call has overwritten the register, so SameValue means as little as no
			// rule.
			returns.value, returns.known, has, ruled = v, true, true, rule.Kind != cfi.SameValue
		}
		w.fresh = append(w.fresh, columnValue{uint64(rule.Column), v, err == nil && rule.Kind != cfi.Undefined})
	}
	if !has {
		returns.value, returns.known = w.Register(r.ReturnAddress)
	}
	if inMemory := int(r.ReturnAddress) == w.Machine.ProgramCounter; !returns.known || !ruled && (!w.frame.Interrupted || inMemory) {
		// A frame that made a call has overwritten the link register. If the column is
		// the program counter, there is no link register.
		return w.end(NoRule, fmt.Errorf("no rule for the return address of the frame at %#x", w.regs.PC))
	}
	if w.guessed {
		if !w.verify(r, returns.value) {
			return false
		}
		w.guessed = false
	}
	if r.Signed {
		returns.value = unsigned(returns.value)
		for i := range w.fresh {
			if w.fresh[i].column == r.ReturnAddress {
				w.fresh[i].value = returns.value
			}
		}
	}
	return w.commit(w.returnsTo(returns.value), w.truncate(cfa-uint64(w.Machine.CFAOffset)), sp, r.OtherStack)
}

// returnsTo returns the address that a function returns to, from the value of its
// return address column. Zero, which ends a stack, stays zero.
func (w *Walker) returnsTo(v uint64) uint64 {
	if v == 0 {
		return 0
	}
	return w.truncate(v + uint64(w.Machine.ReturnOffset))
}

// unsigned removes the signature from a return address of AArch64. User addresses have
// at most 48 bits, and the signature is above them (bit 55 marks kernel addresses).
func unsigned(pc uint64) uint64 {
	if pc&(1<<55) != 0 {
		return pc
	}
	return pc & (1<<48 - 1)
}

// commit sets the registers of the next frame: the fresh values, the return address pc
// and the stack pointer next. otherStack allows it to be on another stack. sp is the
// stack pointer of this frame.
func (w *Walker) commit(pc, next, sp uint64, otherStack bool) bool {
	m := w.Machine
	pc &= m.CodeMask
	if !w.frame.Trampoline {
		switch {
		case pc == 0:
			// Code at address 0 has no callees, but a signal can interrupt a call of address 0.
			return w.end(EndOfStack, nil)
		case pc == w.regs.PC && next == sp:
			return w.end(NoProgress, fmt.Errorf("the frame at %#x with stack pointer %#x leads to itself", pc, sp))
		case w.inner(next, sp) && !otherStack && !w.switchesStack():
			return w.end(NoProgress, fmt.Errorf("the frame at %#x leads from stack pointer %#x back to %#x", w.regs.PC, sp, next))
		}
		// Registers that the callee may change are lost, unless a rule restores them.
		w.regs.keep(&w.calleeSaved)
	}
	w.regs.Set(uint64(m.StackPointer), next)
	for _, v := range w.fresh {
		if v.known {
			w.regs.Set(v.column, v.value)
		} else {
			w.regs.Forget(v.column)
		}
	}
	if now, ok := w.Register(uint64(m.StackPointer)); ok {
		down := w.inner(now, sp)
		if down && !w.mayGoDown(pc, now) {
			return false
		}
		if down || otherStack {
			w.enter(now)
		}
	}
	w.regs.PC = pc
	if m.ProgramCounter >= 0 {
		w.regs.Set(uint64(m.ProgramCounter), pc)
	}
	return true
}

// inner reports whether a is further than b in the direction in which the stack grows.
func (w *Walker) inner(a, b uint64) bool {
	if w.Machine.GrowsUp() {
		return a > b
	}
	return a < b
}

// value returns the value of a column in the calling frame.
func (w *Walker) value(r *Rules, rule cfi.Rule, column, cfa uint64) (uint64, error) {
	switch rule.Kind {
	case cfi.Offset:
		return w.read(w.truncate(cfa + uint64(rule.Offset)))
	case cfi.ValOffset:
		return w.truncate(cfa + uint64(rule.Offset)), nil
	case cfi.Expression:
		at, err := w.eval.Register(r.Section, rule, cfa, w)
		if err != nil {
			return 0, err
		}
		return w.read(at)
	case cfi.ValExpression:
		return w.eval.Register(r.Section, rule, cfa, w)
	case cfi.Register:
		column = uint64(rule.Register)
	case cfi.Undefined:
		return 0, nil
	}
	if v, ok := w.Register(column); ok {
		return v, nil
	}
	return 0, fmt.Errorf("%w: %s is not known", errNoValue, w.Machine.RegisterName(column))
}

// popped returns the value of a register whose slot is below the stack pointer, where it cannot be read.
// Rules of gcc and clang for x86-64 still name the slot after the function has popped the register.
func (w *Walker) popped(column uint64, err error) (uint64, error) {
	if !w.frame.Interrupted || !codeframe.Knows(w.Machine) {
		return 0, err
	}
	v, known := w.Register(column)
	if !known || !codeframe.Restored(w.code(w.regs.PC, codeframe.MostEpilogue), int(column)) {
		return 0, err
	}
	return v, nil
}

var errNoValue = errors.New("no value")

// Register implements cfi.Frame.
func (w *Walker) Register(column uint64) (uint64, bool) {
	if w.records {
		w.recorder.used(column, w.Machine)
	}
	return w.regs.Get(column)
}

func (w *Walker) truncate(v uint64) uint64 { return w.Machine.Truncate(v) }

// badCall leaves a frame at an address without code. The call that led there has left
// only its return address.
func (w *Walker) badCall() bool {
	sp, _ := w.Register(uint64(w.Machine.StackPointer))
	if w.Machine.PushesReturns() && w.Machine.KnowsCalls() {
		pc, err := w.read(sp)
		if _, executable := w.module(pc - 1); err != nil || !executable || w.callBefore(pc, nil) == noCall {
			return false
		}
		w.fresh = w.fresh[:0]
		return w.commit(pc, sp+uint64(w.Machine.RegisterSize), sp, false)
	}
	pc, ok := w.Register(uint64(w.Machine.ReturnAddress))
	if _, executable := w.module(pc - 1); !ok || !executable {
		return false
	}
	w.fresh = w.fresh[:0]
	return w.commit(w.returnsTo(pc), sp, sp, false)
}

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

// leaveReturned leaves a frame for which hasReturned is true. The registers are those of the
// caller, and o7 holds the address of the call.
func (w *Walker) leaveReturned() bool {
	sp, _ := w.stackPointer()
	pc, known := w.Register(uint64(w.Machine.ReturnAddress))
	if !known {
		return w.end(NoRule, returnError(w.regs.PC, errNoValue))
	}
	w.fresh = w.fresh[:0]
	return w.commit(w.returnsTo(pc), sp, sp, false)
}
