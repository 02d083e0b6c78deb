// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// Walker walks a stack frame by frame. Reuse it for one thread after the other. It is
// not safe for concurrent use.
type Walker struct {
	Machine *arch.Machine
	Modules *Modules
	Memory  cfi.Memory // at run-time addresses; nil if there is only Stack; can be a StackMemory
	Stack   Stack      // read before Memory

	// MaxFrames bounds a walk; 0 means DefaultMaxFrames.
	MaxFrames int

	// Waiting reports that the registers are those of a frame that waits for a call to
	// return, such as the saved registers of a coroutine that does not run. Its PC is a
	// return address.
	Waiting bool

	frame   Frame
	regs    Registers
	eval    cfi.Evaluator
	fresh   []columnValue // the values of the next frame, while this frame's are still needed
	word    [16]byte
	bytes   [mostPrologue]byte // of code
	reads   int                // of saved registers
	guessed bool               // the stack pointer follows from a mere convention: see verify
	steps   uint64             // of the evaluator before this walk

	calleeSaved columnSet
	wide        bool // registers are saved in 8 bytes, least significant first
	known       knownAddresses
	last        Range    // the most recently found one
	recorder    recorder // of the data that a step depends on
	records     bool     // recorder is in use

	reason Reason
	err    error
	cut    cut // the values of err, until Err makes it

	switches switches // of stacks
	others   otherStacks
}

// DefaultMaxFrames is more than an 8 MiB stack holds, except after a runaway recursion.
const DefaultMaxFrames = 1 << 17

// maxWork bounds the registers that one walk may read plus the operations of
// expressions that it may execute. It is twice the work of the deepest stack of
// realigned frames, and takes a fraction of a second.
const maxWork = 1 << 24

type columnValue struct {
	column uint64
	value  uint64
	known  bool
}

// Walk yields the frames of the stack that starts with the given registers,
// innermost first. The walker owns the frame and its registers: the next step
// overwrites them. Reason and Err return why the walk ended.
func (w *Walker) Walk(regs *Registers) iter.Seq[*Frame] {
	return func(yield func(*Frame) bool) { w.walk(regs, yield) }
}

// Reason returns why the last walk ended.
func (w *Walker) Reason() Reason { return w.reason }

// Err returns the error that ended the last walk, with the addresses concerned. It is
// nil if the walk reached the end of the stack.
func (w *Walker) Err() error {
	if c := &w.cut; w.err == nil && c.err != nil {
		w.err = returnError(c.pc, &c.unreadable)
	}
	return w.err
}

// cut holds the values of the error at the end of a partly copied stack. There are
// many, and few are formatted.
type cut struct {
	pc uint64
	unreadable
}

func (w *Walker) unreadableReturn(pc, addr uint64, err error) bool {
	w.cut = cut{pc, unreadable{addr, err}}
	return w.end(UnreadableMemory, nil)
}

func returnError(pc uint64, err error) error {
	return fmt.Errorf("the return address of the frame at %#x: %w", pc, err)
}

func (w *Walker) walk(regs *Registers, yield func(*Frame) bool) {
	w.begin()
	w.start(regs)
	defer w.comeBack()
	most := cmp.Or(w.MaxFrames, DefaultMaxFrames)
	for n := 0; ; n++ {
		if n == most {
			w.end(TooManyFrames, fmt.Errorf("the walk was cut after %d frames", most))
			return
		}
		if !w.mayWork(n) {
			return
		}
		e := w.look()
		if !yield(&w.frame) || !w.leave(e.is, e.rules) {
			return
		}
	}
}

// begin makes the walker ready for a walk.
func (w *Walker) begin() {
	w.reason, w.err, w.cut = EndOfStack, nil, cut{}
	w.reads, w.steps, w.others, w.switches.n = 0, w.eval.Steps, otherStacks{}, 0
	if w.known.machine != w.Machine {
		for c := range uint64(MaxColumns) {
			w.calleeSaved.set(c, w.Machine.CalleeSaved(c))
		}
		w.wide = w.Machine.RegisterSize == 8 && w.Machine.Order == binary.LittleEndian
	}
	w.known.check(w)
}

// start makes the registers those of the innermost frame.
func (w *Walker) start(regs *Registers) {
	w.regs, w.guessed, w.switches.n = *regs, false, 0
	w.frame = Frame{Registers: &w.regs, Method: FromRegisters, Interrupted: !w.Waiting}
	if c := w.Machine.ProgramCounter; c >= 0 {
		w.regs.Set(uint64(c), regs.PC)
	}
}

// mayWork ends the walk if n frames took more work than those of any real stack.
func (w *Walker) mayWork(n int) bool {
	if uint64(w.reads)+w.eval.Steps-w.steps > maxWork {
		return w.end(TooManyFrames, fmt.Errorf("the walk was cut after %d frames, whose rules take more than %d steps", n, maxWork))
	}
	return true
}

// look completes the frame of the current registers.
func (w *Walker) look() *known {
	f := &w.frame
	f.PC = w.regs.PC
	e, module := w.know(f.PC, f.Interrupted)
	f.Module, f.LookupPC, f.Trampoline = module, e.lookup(f.Interrupted), e.is&isTrampoline != 0
	return e
}

// lookup returns the address to look a frame up by.
func (e *known) lookup(interrupted bool) uint64 {
	if interrupted || e.is&looksUpAtPC != 0 {
		return e.pc
	}
	return e.pc - 1
}

func (w *Walker) end(reason Reason, err error) bool {
	w.reason, w.err = reason, err
	return false
}
