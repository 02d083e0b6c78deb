// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// Walker walks a stack frame by frame. It is made to be reused for one thread
// after the other, and is not safe for concurrent use.
type Walker struct {
	Machine *arch.Machine
	Modules *Modules
	Memory  cfi.Memory // at run-time addresses

	// MaxFrames bounds a walk; 0 means DefaultMaxFrames.
	MaxFrames int

	frame    Frame
	regs     Registers
	eval     cfi.Evaluator
	fresh    []columnValue // the values of the next frame, while this one's are still needed
	word     [16]byte
	switches int    // frames that led down the stack
	reads    int    // of saved registers
	steps    uint64 // of the evaluator before this walk

	calleeSaved columnSet

	reason Reason
	err    error
}

// DefaultMaxFrames is deeper than any 8 MiB stack that was not filled by a runaway recursion.
const DefaultMaxFrames = 1 << 17

// maxSwitches is how often one walk may go to a lower address, as a signal
// frame on a stack of its own makes it.
const maxSwitches = 64

// maxWork is how many registers one walk may read and operations of
// expressions it may execute: twice what the deepest stack of realigned frames
// takes, and a fraction of a second.
const maxWork = 1 << 24

type columnValue struct {
	column uint64
	value  uint64
	known  bool
}

// Walk yields the frames of the stack that starts with the given registers,
// innermost first. The frame and its registers are the walker's own and are
// changed by the next step. Reason and Err tell why the walk ended.
func (w *Walker) Walk(regs *Registers) iter.Seq[*Frame] {
	return func(yield func(*Frame) bool) { w.walk(regs, yield) }
}

// Reason returns why the last walk ended.
func (w *Walker) Reason() Reason { return w.reason }

// Err returns what stood in the way of the last walk, with the addresses
// concerned, and nil where it ended at the end of the stack.
func (w *Walker) Err() error { return w.err }

func (w *Walker) walk(regs *Registers, yield func(*Frame) bool) {
	w.regs, w.reason, w.err, w.switches = *regs, EndOfStack, nil, 0
	w.reads, w.steps = 0, w.eval.Steps
	w.frame = Frame{Registers: &w.regs, Method: FromRegisters, Interrupted: true}
	if c := w.Machine.ProgramCounter; c >= 0 {
		w.regs.Set(uint64(c), regs.PC)
	}
	for c := range uint64(MaxColumns) {
		w.calleeSaved.set(c, w.Machine.CalleeSaved(c))
	}
	most := w.MaxFrames
	if most == 0 {
		most = DefaultMaxFrames
	}
	for n := 0; ; n++ {
		if n == most {
			w.end(TooManyFrames, fmt.Errorf("the walk was cut after %d frames", most))
			return
		}
		if uint64(w.reads)+w.eval.Steps-w.steps > maxWork {
			w.end(TooManyFrames, fmt.Errorf("the walk was cut after %d frames, whose rules take more than %d steps", n, maxWork))
			return
		}
		f := &w.frame
		f.PC = w.regs.PC
		f.LookupPC = f.PC
		if !f.Interrupted {
			f.LookupPC--
		}
		var executable bool
		f.Module, executable = w.Modules.Find(f.LookupPC)
		if !executable && !f.Interrupted {
			// A signal trampoline can be the first of its memory: see rules.
			if m, first := w.Modules.Find(f.PC); first && w.atSigreturn(f.PC) {
				f.Module, f.LookupPC, executable = m, f.PC, true
			}
		}
		f.Trampoline = false
		rules, err := w.rules(f)
		if rules != nil {
			f.Trampoline = rules.SignalFrame
		} else {
			f.Trampoline = executable && w.atSigreturn(f.PC)
		}
		if !yield(f) {
			return
		}
		switch {
		case rules != nil:
			if !w.apply(rules) {
				return
			}
			f.Method = FromCFI
		case f.Trampoline:
			if !w.sigreturn() {
				return
			}
			f.Method = FromSignal
		case !executable && f.Interrupted && w.badCall():
			f.Method = FromCall
		case !executable && !f.Interrupted:
			w.end(NoRule, fmt.Errorf("%#x, to which the frame before returns, is not code", f.PC))
			return
		case w.framePointer(err):
			f.Method = FromFramePointer
		default:
			return
		}
		f.Interrupted = f.Trampoline
	}
}

func (w *Walker) end(reason Reason, err error) bool {
	w.reason, w.err = reason, err
	return false
}

// rules returns the rules that hold in a frame, or why there are none.
func (w *Walker) rules(f *Frame) (*Rules, error) {
	if f.Module == nil {
		return nil, fmt.Errorf("%w: %#x belongs to no module", cfi.ErrNoFDE, f.LookupPC)
	}
	m := f.Module.loaded()
	if m.Source == nil {
		return nil, fmt.Errorf("%w: %s has no call frame information", cfi.ErrNoFDE, m.Name)
	}
	rules, err := m.Source.Rules(f.LookupPC - m.Bias)
	if err != nil && !f.Interrupted {
		// Nobody called a signal trampoline: its return address is its first
		// byte, and the byte before may belong to nothing.
		if at, _ := m.Source.Rules(f.PC - m.Bias); at != nil && at.SignalFrame {
			f.LookupPC = f.PC
			return at, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	return rules, nil
}

// apply replaces the registers by those of the caller.
func (w *Walker) apply(r *Rules) bool {
	sp, _ := w.Register(uint64(w.Machine.StackPointer))
	cfa, err := w.cfa(r)
	if err != nil {
		return w.end(reasonOf(err), fmt.Errorf("the CFA of the frame at %#x: %w", w.regs.PC, err))
	}
	w.fresh = w.fresh[:0]
	returns := columnValue{column: r.ReturnAddress}
	returns.value, returns.known = w.Register(r.ReturnAddress)
	ruled := false
	for i := range r.Registers {
		rule := &r.Registers[i]
		v, err := w.value(r, rule.Rule, uint64(rule.Column), cfa)
		if uint64(rule.Column) == r.ReturnAddress {
			if rule.Kind == cfi.Undefined {
				return w.end(EndOfStack, nil)
			}
			if err != nil {
				return w.end(reasonOf(err), fmt.Errorf("the return address of the frame at %#x: %w", w.regs.PC, err))
			}
			// Unchanged is what a call has overwritten, as much as no rule.
			returns.value, returns.known, ruled = v, true, rule.Kind != cfi.SameValue
		}
		w.fresh = append(w.fresh, columnValue{uint64(rule.Column), v, err == nil && rule.Kind != cfi.Undefined})
	}
	if inMemory := int(r.ReturnAddress) == w.Machine.ProgramCounter; !returns.known || !ruled && (!w.frame.Interrupted || inMemory) {
		// A frame that called has overwritten the link register, and where the
		// column is the program counter's there is none.
		return w.end(NoRule, fmt.Errorf("no rule for the return address of the frame at %#x", w.regs.PC))
	}
	if r.Signed {
		returns.value = unsigned(returns.value)
		for i := range w.fresh {
			if w.fresh[i].column == r.ReturnAddress {
				w.fresh[i].value = returns.value
			}
		}
	}
	return w.commit(returns.value, w.truncate(cfa-uint64(w.Machine.CFAOffset)), sp)
}

// unsigned takes the signature off a return address of AArch64: user addresses
// have at most 48 bits, and the signature stands above (bit 55 is a kernel's).
func unsigned(pc uint64) uint64 {
	if pc&(1<<55) != 0 {
		return pc
	}
	return pc & (1<<48 - 1)
}

// commit makes the fresh values, a return address and a stack pointer the
// registers of the next frame. sp is the stack pointer of this one.
func (w *Walker) commit(pc, next, sp uint64) bool {
	m := w.Machine
	if m.ELF == elf.EM_ARM {
		pc &^= 1 // the state bit: Thumb
	}
	if !w.frame.Trampoline {
		// Code at address 0 calls nobody, but a signal can interrupt a call of it.
		if pc == 0 {
			return w.end(EndOfStack, nil)
		}
		if pc == w.regs.PC && next == sp {
			return w.end(NoProgress, fmt.Errorf("the frame at %#x with stack pointer %#x leads to itself", pc, sp))
		}
		if w.inner(next, sp) {
			return w.end(NoProgress, fmt.Errorf("the frame at %#x leads from stack pointer %#x back to %#x", w.regs.PC, sp, next))
		}
	}
	// What the called function may change is lost, unless a rule brings it back.
	if !w.frame.Trampoline {
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
	if now, ok := w.Register(uint64(m.StackPointer)); ok && w.inner(now, sp) {
		if w.switches++; w.switches > maxSwitches {
			return w.end(NoProgress, fmt.Errorf("more than %d frames lead back to where the stack grows", maxSwitches))
		}
	}
	w.regs.PC = pc
	if m.ProgramCounter >= 0 {
		w.regs.Set(uint64(m.ProgramCounter), pc)
	}
	return true
}

// inner reports whether a stack pointer is further to where the stack grows.
func (w *Walker) inner(a, b uint64) bool {
	if w.Machine.ELF == elf.EM_PARISC {
		return a > b // grows upwards
	}
	return a < b
}

// cfa returns the CFA of the current frame.
func (w *Walker) cfa(r *Rules) (uint64, error) {
	switch r.CFA.Kind {
	case cfi.Register:
		v, ok := w.Register(uint64(r.CFA.Register))
		if !ok {
			return 0, fmt.Errorf("%w: %s is not known", errNoValue, w.Machine.RegisterName(uint64(r.CFA.Register)))
		}
		return w.truncate(v + uint64(r.CFA.Offset)), nil
	case cfi.ValExpression:
		return w.eval.CFA(r.Section, r.CFA, w)
	}
	return 0, fmt.Errorf("%w: the table does not define it", errNoValue)
}

// value returns what a column has in the calling frame.
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

var errNoValue = errors.New("no value")

// unreadable is an error of the memory that is walked.
type unreadable struct {
	address uint64
	err     error
}

func (e *unreadable) Error() string { return fmt.Sprintf("cannot read %#x: %v", e.address, e.err) }
func (e *unreadable) Unwrap() error { return e.err }

func reasonOf(err error) Reason {
	if e := (*unreadable)(nil); errors.As(err, &e) {
		return UnreadableMemory
	}
	return NoRule
}

// Register implements cfi.Frame.
func (w *Walker) Register(column uint64) (uint64, bool) { return w.regs.Get(column) }

// ReadMemory implements cfi.Frame.
func (w *Walker) ReadMemory(p []byte, addr uint64) error {
	if err := w.Memory.ReadMemory(p, addr); err != nil {
		return &unreadable{addr, err}
	}
	return nil
}

// read reads a register from where it was saved.
func (w *Walker) read(addr uint64) (uint64, error) {
	w.reads++
	b := w.word[:w.Machine.RegisterSize]
	if err := w.ReadMemory(b, addr); err != nil {
		return 0, err
	}
	switch {
	case len(b) == 4:
		return uint64(w.Machine.Order.Uint32(b)), nil
	case w.Machine.Order == binary.BigEndian:
		return binary.BigEndian.Uint64(b), nil
	}
	return binary.LittleEndian.Uint64(b), nil
}

func (w *Walker) truncate(v uint64) uint64 {
	if w.Machine.AddressSize == 4 {
		return v & 0xffffffff
	}
	return v
}

// badCall leaves a frame whose address holds no code: the call that led there
// has left only its return address.
func (w *Walker) badCall() bool {
	sp, _ := w.Register(uint64(w.Machine.StackPointer))
	switch w.Machine.ELF {
	case elf.EM_X86_64, elf.EM_386:
		pc, err := w.read(sp)
		if _, executable := w.Modules.Find(pc - 1); err != nil || !executable {
			return false
		}
		w.fresh = w.fresh[:0]
		return w.commit(pc, sp+uint64(w.Machine.RegisterSize), sp)
	}
	pc, ok := w.Register(uint64(w.Machine.ReturnAddress))
	if _, executable := w.Modules.Find(pc - 1); !ok || !executable {
		return false
	}
	w.fresh = w.fresh[:0]
	return w.commit(pc, sp, sp)
}
