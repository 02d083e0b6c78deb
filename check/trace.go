// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"fmt"
	"iter"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
	"github.com/clewdev/clew/unwind"
)

// TraceState is a thread before it executes an instruction.
type TraceState struct {
	Registers *unwind.Registers // run-time addresses; they are read before the next state is made
	Memory    cfi.Memory        // as it is before the instruction
}

// Mismatch is a register of a caller that an unwind table recovers with a wrong value.
type Mismatch struct {
	// PC is the run-time address of the instruction before which the table is wrong.
	PC uint64
	// Register is "CFA", "return address", or the name of a callee-saved register.
	Register string
	// Rule is the table's rule in words, such as "rsp+16" or "saved at CFA-24". It is
	// empty if there is none.
	Rule string
	// Expected is the caller's value, and Found what the rule gives. Err is the reason why
	// the rule gives none, or nil.
	Expected, Found uint64
	Err             error
}

func (m *Mismatch) String() string {
	text := fmt.Sprintf("%#x: %s: expected %#x, ", m.PC, m.Register, m.Expected)
	if m.Err != nil {
		text += m.Err.Error()
	} else {
		text += fmt.Sprintf("found %#x", m.Found)
	}
	if m.Rule != "" {
		text += " (" + m.Rule + ")"
	}
	return text
}

// TraceResult contains the results of comparing the frames of an execution with the unwind
// tables.
type TraceResult struct {
	Instructions int // executed
	Agree        int // executed where the table gives the whole frame
	Disagree     int // executed where it gives a wrong one

	// Undecided is the number of instructions that were executed where no table describes
	// the code, in signal trampolines, and after a switch to another stack.
	Undecided int

	// Mismatches holds the first mismatch of each register at each instruction, in the
	// order of execution, but no more than 1,000.
	Mismatches []Mismatch
}

const maxMismatches = 1000

// TraceOptions changes what Trace compares. With the zero value, functions must follow the
// machine's C calling convention.
type TraceOptions struct {
	// Scratch names registers that the functions need not preserve, although the ABI requires
	// it: "rbx" if generated code keeps a stack pointer of its own there.
	Scratch []string
}

// Trace compares the frames that unwind tables describe with the true ones. The states are
// those of one thread before each of its instructions, from the first instruction of a
// function on: from single steps of a debugger, an emulator or a record. Modules has the
// tables of the code. Trace ends when the function returns, or after the last state.
//
// The true frames are known from the execution itself: a call makes one, whose callee-saved
// registers have to be what they were at the call, and a return ends it. Callees and signal
// handlers are compared too. The tables of code that jumps out of several frames (longjmp, an
// unwinder) often describe the target frame already before the jump. Trace reports these rows
// as mismatches.
//
// The options may be nil.
func Trace(m *arch.Machine, modules *unwind.Modules, states iter.Seq[TraceState], o *TraceOptions) (*TraceResult, error) {
	t, err := newTracer(m, modules, o)
	if err != nil {
		return nil, err
	}
	for s := range states {
		if !t.step(s) {
			break
		}
	}
	return &t.result, nil
}

// tracer follows an execution.
type tracer struct {
	machine *arch.Machine
	modules *unwind.Modules
	saved   []uint64 // columns of the callee-saved registers, without the stack pointer
	sp      uint64   // column
	pushes  bool     // calls push the return address
	longest uint64   // size of the longest instruction in bytes

	frames     []trueFrame // outermost first
	started    bool
	lost       bool   // the true frames are not known
	pc, before uint64 // program counter and stack pointer of the previous state

	evaluator cfi.Evaluator
	seen      map[place]bool
	result    TraceResult
}

// place is where a mismatch was found.
type place struct{ pc, column uint64 }

// Numbers of places that are not columns.
const (
	placeCFA    = ^uint64(0)
	placeReturn = ^uint64(1)
)

// trueFrame is a frame of a function that has not returned.
type trueFrame struct {
	sp         uint64   // the caller's, after the return
	returns    uint64   // address
	saved      []uint64 // values at the entry, of tracer.saved
	known      []bool
	trampoline bool // stands for the kernel's signal frame
}

func newTracer(m *arch.Machine, modules *unwind.Modules, o *TraceOptions) (*tracer, error) {
	if !m.KnowsCalls() || m.StackPointer < 0 || m.ReturnAddress < 0 || m.GrowsUp() || m.RegisterWindows {
		return nil, fmt.Errorf("tracing on %s is not supported", m.Name)
	}
	t := &tracer{machine: m, modules: modules, sp: uint64(m.StackPointer), pushes: m.PushesReturns(), longest: maxInstruction, seen: make(map[place]bool)}
	if known := lift.Of(m); known != nil {
		t.longest = uint64(known.ABI().MaxSize)
	}
	scratch := map[uint64]bool{t.sp: true, uint64(m.ReturnAddress): true}
	if o != nil {
		for _, name := range o.Scratch {
			c, ok := m.Column(name)
			if !ok {
				return nil, fmt.Errorf("%s has no register %q", m.Name, name)
			}
			scratch[c] = true
		}
	}
	for c := range uint64(unwind.MaxColumns) {
		if m.CalleeSaved(c) && !scratch[c] {
			t.saved = append(t.saved, c)
		}
	}
	return t, nil
}

// step compares the frame at one state. It returns false if the first function has returned.
func (t *tracer) step(s TraceState) bool {
	sp, ok := s.Registers.Get(t.sp)
	if !ok {
		t.lost = true
	}
	pc := s.Registers.PC
	if !t.started {
		t.started = true
		t.enter(s, sp)
	} else if !t.lost && !t.interrupted(s, sp) {
		if !t.leave(s, sp) {
			return false
		}
		t.called(s, sp)
	}
	t.pc, t.before = pc, sp
	t.result.Instructions++
	switch {
	case t.lost, t.frames[len(t.frames)-1].trampoline:
		t.result.Undecided++
	default:
		t.compare(s)
	}
	return true
}

// leave removes the frames that have ended. It returns false if none is left.
func (t *tracer) leave(s TraceState, sp uint64) bool {
	pc := s.Registers.PC
	jumped := false // by longjmp, or to a handler of exceptions
	for n := len(t.frames); n > 0; n-- {
		f := &t.frames[n-1]
		switch {
		case f.trampoline:
			if rules := t.rules(pc); rules != nil && rules.SignalFrame {
				return true
			}
		case sp > f.sp && (n == 1 || sp > t.frames[0].sp), sp < f.sp && f.sp-sp > farAway:
			t.lost = true // on another stack
			return true
		case sp > f.sp:
			jumped = true
		case sp == f.sp && (t.pushes || jumped || pc == f.returns):
		default:
			return true
		}
		t.frames = t.frames[:n-1]
	}
	return false
}

// farAway is the number of bytes from a frame at which the stack pointer is taken to be on
// another stack.
const farAway = 1 << 26

// interrupted adds the frames of a signal handler that starts, and of the kernel's
// trampoline that it returns to. It reports whether one does.
func (t *tracer) interrupted(s TraceState, sp uint64) bool {
	returns, ok := t.returnAddress(s, sp)
	if !ok || sp == t.before || t.frames[len(t.frames)-1].returns == returns {
		return false
	}
	rules := t.rules(returns)
	if rules == nil || !rules.SignalFrame {
		return false
	}
	// An old return address of a handler may be left on the stack. The address that the
	// trampoline leads back to decides.
	after := *s.Registers
	after.PC = returns
	if t.pushes {
		after.Set(t.sp, sp+uint64(t.machine.AddressSize))
	}
	frame := frameOf{TraceState{&after, s.Memory}, t.machine}
	cfa, err := rules.FrameAddress(t.machine, frame, &t.evaluator)
	if err != nil {
		return false
	}
	back, err := t.recover(rules, ruleOf(rules, rules.ReturnAddress), rules.ReturnAddress, cfa, frame)
	if err != nil || back-t.pc > t.longest {
		return false
	}
	t.frames = append(t.frames, trueFrame{trampoline: true})
	t.enter(s, sp)
	return true
}

// called adds the frame of a function that the previous instruction called.
func (t *tracer) called(s TraceState, sp uint64) {
	returns, ok := t.returnAddress(s, sp)
	// A link register can have the value of an earlier call while a loop comes near to that call again.
	if !ok || s.Registers.PC == returns || returns <= t.pc || returns-t.pc > t.longest ||
		t.pushes && sp != t.before-uint64(t.machine.AddressSize) {
		return
	}
	code := make([]byte, min(arch.MaxCallSize, int(returns-t.pc)))
	if s.Memory.ReadMemory(code, returns-uint64(len(code))) != nil {
		return
	}
	if _, ok := t.machine.CallBefore(code, returns); ok {
		t.enter(s, sp)
	}
}

// maxInstruction is the size of the longest instruction of all machines in bytes.
const maxInstruction = 15

// enter adds the frame of a function that starts.
func (t *tracer) enter(s TraceState, sp uint64) {
	returns, ok := t.returnAddress(s, sp)
	if !ok {
		t.lost = true
		return
	}
	f := trueFrame{sp: sp, returns: returns, saved: make([]uint64, len(t.saved)), known: make([]bool, len(t.saved))}
	if t.pushes {
		f.sp += uint64(t.machine.AddressSize)
	}
	for i, c := range t.saved {
		f.saved[i], f.known[i] = s.Registers.Get(c)
	}
	t.frames = append(t.frames, f)
}

// returnAddress returns the return address of a function at its first instruction.
func (t *tracer) returnAddress(s TraceState, sp uint64) (uint64, bool) {
	m := t.machine
	if !t.pushes {
		v, ok := s.Registers.Get(uint64(m.ReturnAddress))
		return (v + uint64(m.ReturnOffset)) & m.CodeMask, ok
	}
	return t.word(s.Memory, sp, m.AddressSize)
}

func (t *tracer) word(memory cfi.Memory, at uint64, size int) (uint64, bool) {
	var p [8]byte
	if memory.ReadMemory(p[:size], at) != nil {
		return 0, false
	}
	if size == 4 {
		return uint64(t.machine.Order.Uint32(p[:])), true
	}
	return t.machine.Order.Uint64(p[:]), true
}
