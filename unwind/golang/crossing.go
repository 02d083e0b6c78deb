// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// Offsets that no version since Go 1.18 has changed (runtime/runtime2.go), in bytes.
const (
	gStackHigh = 8
	gM         = 48
	gSched     = 56
	mG0        = 0
	gobufSP    = 0
	gobufPC    = 8
)

// crossing is the frame of a function that has changed stacks and waits for a call.
type crossing struct {
	*Table
	fn     *Function
	before []byte // the code up to the return address
	after  []byte // the code from the return address on
	entry  assembled

	rules *unwind.Rules
	err   error
}

var errNotThere = errors.New("not at the call for which it changes stacks")

// cross returns the rules of a function that changes stacks, for a frame that waits
// for a call to return: pc is the byte before the return address.
func (t *Table) cross(fn *Function, pc uint64, find func(*crossing) error) (*unwind.Rules, error) {
	code := make([]byte, min(fn.End-fn.Entry, maxSwitch))
	at := pc + 1 - fn.Entry
	err := t.program.Code.ReadMemory(code, fn.Entry)
	if err == nil && at > uint64(len(code)) {
		err = errNotThere
	}
	if err == nil {
		c := &crossing{Table: t, fn: fn, before: code[:at], after: code[at:]}
		c.rules = &unwind.Rules{ReturnAddress: uint64(t.layout.ra), OtherStack: true,
			Section: &cfi.Section{Name: ".gopclntab", Machine: t.program.Machine}}
		t.layout.scan(code, &c.entry)
		if err = find(c); err == nil {
			err = c.err
		}
		if err == nil {
			sorted(c.rules.Registers)
			return c.rules, nil
		}
	}
	return nil, fmt.Errorf("%w: %s, at %#x: %w: %w", cfi.ErrNoFDE, fn.Name, pc, unwind.ErrMovesStack, err)
}

// maxSwitch is the largest size in bytes of a function that changes stacks.
const maxSwitch = 1 << 10

// operation is an operation of an expression.
type operation struct {
	op cfi.Op
	n  int64
}

// expression appends an expression to the rules' section, and returns a rule with it.
func (c *crossing) expression(kind cfi.RuleKind, list ...operation) cfi.Rule {
	s := c.rules.Section
	from := len(s.Data)
	for _, o := range list {
		data, err := cfi.AppendOperation(s.Data, cfi.Operation{Op: o.op, Operands: [2]int64{o.n}}, s.Machine)
		if err != nil && c.err == nil {
			c.err = err
		}
		s.Data = data
	}
	return cfi.Rule{Kind: kind, Offset: int64(from), Register: uint32(len(s.Data) - from)}
}

func (c *crossing) add(column int, r cfi.Rule) {
	c.rules.Registers = append(c.rules.Registers, cfi.RegisterRule{Column: uint32(column), Rule: r})
}

// ownFrame adds the rules of the function's frame on the other stack. The operations
// calculate the stack pointer there.
func (c *crossing) ownFrame(stackPointer ...operation) {
	depth := c.entry.prologue
	list := append(stackPointer, operation{cfi.OpPlusUconst, int64(depth + c.layout.returnAddress)})
	c.rules.CFA = c.expression(cfi.ValExpression, list...)
	a := assembled{}
	for _, s := range c.entry.saved {
		if s.column == c.layout.fp || s.column == c.layout.ra {
			a.saved = append(a.saved, s)
		}
	}
	c.rules.Registers = append(c.rules.Registers, a.rules(c.layout, depth)...)
}

// current returns the operations that find the goroutine that runs on the thread,
// g.m.curg. curg is the offset in m.
func (c *crossing) current(curg int64) []operation {
	return []operation{c.register(c.layout.g, gM), {op: cfi.OpDeref}, {cfi.OpPlusUconst, curg}, {op: cfi.OpDeref}}
}

func (c *crossing) register(column int, offset int64) operation {
	return operation{cfi.OpBreg0 + cfi.Op(column), offset}
}

// sched returns the operations that read a field of g.sched. The result is 0 if g is 0.
func sched(g []operation, offset int64) []operation {
	return append(slices.Clip(g), operation{op: cfi.OpDup}, operation{cfi.OpBra, 4}, operation{op: cfi.OpLit0}, operation{cfi.OpSkip, 3},
		operation{cfi.OpPlusUconst, gSched + offset}, operation{op: cfi.OpDeref})
}

// fromSystemStack makes the rules from systemstack on the thread's stack to its frame on the
// goroutine's stack. The runtime returns by the same word.
func (c *crossing) fromSystemStack(curg int64) {
	c.ownFrame(append(c.current(curg), operation{cfi.OpPlusUconst, gSched + gobufSP}, operation{op: cfi.OpDeref})...)
	c.add(c.layout.g, c.expression(cfi.ValExpression, c.current(curg)...))
}

// fromCallback makes the rules from cgocallback on the goroutine's stack to its frame on
// the stack of the C code that called Go. g0.sched.sp leads to that frame of the innermost
// callback, and the word saved in each frame to that of the next outer one. The word in the
// outermost frame leads to a callback that has returned. cgocallback copies its arguments to
// the goroutine's stack. One of them is an address in the frame of the C function, and the
// first frame with the same argument is the right one. argument is the offset of that
// argument from the stack pointer on the goroutine's stack, saved the offset of the saved
// word, and passed the offset of the argument above the CFA of the other frame.
func (c *crossing) fromCallback(argument, saved, passed int64) error {
	passed += int64(c.entry.prologue + c.layout.returnAddress)
	if passed > maxShort {
		return errNotThere
	}
	c.ownFrame(
		c.register(c.layout.g, gM), operation{op: cfi.OpDeref}, operation{cfi.OpPlusUconst, mG0}, operation{op: cfi.OpDeref},
		operation{cfi.OpPlusUconst, gSched + gobufSP}, operation{op: cfi.OpDeref},
		// S: the frame of a callback.
		operation{op: cfi.OpDup}, operation{cfi.OpPlusUconst, passed}, operation{op: cfi.OpDeref},
		c.register(c.layout.sp, argument), operation{op: cfi.OpDeref}, operation{op: cfi.OpEq}, operation{cfi.OpBra, 12}, // S it is
		operation{op: cfi.OpDup}, operation{cfi.OpPlusUconst, saved}, operation{op: cfi.OpDeref}, // S next
		operation{op: cfi.OpSwap}, operation{op: cfi.OpOver}, operation{op: cfi.OpLt}, // next S<next
		operation{cfi.OpBra, -21},                            // next is S
		operation{op: cfi.OpDrop}, operation{op: cfi.OpLit0}, // nowhere
	)
	return nil
}

// maxShort is the largest number that takes one byte in an expression.
const maxShort = 1<<7 - 1

// curg returns the offset of curg in m, from the code of systemstack.
func (t *Table) curg() (int64, error) {
	fn, ok := t.program.Named("runtime.systemstack")
	if !ok {
		return 0, errors.New("no runtime.systemstack, from which to read the layout of an m")
	}
	code := make([]byte, min(fn.End-fn.Entry, maxSwitch))
	if err := t.program.Code.ReadMemory(code, fn.Entry); err != nil {
		return 0, err
	}
	offset, ok := t.layout.curg(code)
	if !ok {
		return 0, errors.New("the code of runtime.systemstack is not known")
	}
	return offset, nil
}

// fromMorestack makes the rules from morestack to the function that needed more stack. That
// function will continue at its start with the registers in g.sched. If the goroutine was
// preempted there it has left the thread: the scheduler's stack then starts in morestack. bp
// and lr are offsets in sched; lr is 0 if calls push the return address.
func (c *crossing) fromMorestack(bp, lr int64) error {
	curg, err := c.curg()
	if err != nil {
		return err
	}
	field := func(offset int64) cfi.Rule {
		return c.expression(cfi.ValExpression, sched(c.current(curg), offset)...)
	}
	c.rules.CFA = field(gobufSP)
	c.rules.ReturnAddress = uint64(c.program.Machine.ProgramCounter)
	c.add(c.program.Machine.ProgramCounter, field(gobufPC))
	c.add(c.layout.fp, field(bp))
	c.add(c.layout.g, c.expression(cfi.ValExpression, c.current(curg)...))
	if lr > 0 {
		c.add(c.layout.ra, field(lr))
	}
	return nil
}

// fromC makes the rules from asmcgocall on the thread's stack, where it waits for C code, to
// its frame on the goroutine's stack. g and depth are offsets from the stack pointer, of the
// goroutine's g and of the frame's distance from the top of its stack. If g is -1, asmcgocall
// has not changed stacks, and depth is the offset of the frame's stack pointer.
func (c *crossing) fromC(g, depth int64) {
	sp := c.layout.sp
	if g < 0 {
		c.ownFrame(c.register(sp, depth), operation{op: cfi.OpDeref})
		return
	}
	c.ownFrame(c.register(sp, g), operation{op: cfi.OpDeref}, operation{cfi.OpPlusUconst, gStackHigh}, operation{op: cfi.OpDeref},
		c.register(sp, depth), operation{op: cfi.OpDeref}, operation{op: cfi.OpMinus})
	c.add(c.layout.g, c.expression(cfi.Expression, c.register(sp, g)))
}
