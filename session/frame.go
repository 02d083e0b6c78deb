// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/tailcall"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/value"
)

// Frame is one frame of a stopped session's stack. It implements value.Frame, value.Writer,
// value.SelfCaller and value.ThreadStorage, and is valid until the session resumes. The frames of a
// session share its walker: only one goroutine at a time may use them or call Session.Stack.
type Frame struct {
	// Level is 0 for the innermost frame. A frame with TailCall has the level of the frame that
	// took its place on the stack.
	Level int

	// PC and LookupPC are run-time addresses, as in unwind.Frame. In a frame that waits for a call
	// to return, LookupPC is in the call instruction.
	PC, LookupPC uint64
	Method       unwind.Method

	// TailCall says that the function has no frame any more: see TailCaller. PC is the address
	// after the call. The stack pointer and what the function had on the stack are unknown.
	TailCall bool

	// Marker is set in a frame that no function has: it separates the frames of a nested call from
	// those of the stopped call outside of it. The name of its Function is NestedName.
	Marker bool

	Image    *Image   // nil for code outside the images
	Object   string   // file of such code, if it is known
	Function Function // zero if it is unknown

	// Locations are the frame's places in the source: the innermost inlined call first, the
	// function itself last.
	Locations []object.Location

	session   *Session
	registers *unwind.Registers // nil for the worker's current ones
	stack     *Stack            // that has the frame; nil for Session.innermost
	bias      uint64            // of Object

	outer *suspended // the call that has the frame, nil for the innermost call
	base  int        // level of that call's innermost frame

	searched   bool   // tailCaller is set
	tailCaller *Frame // see TailCaller
}

// NestedName is the name of the function of a frame with Marker.
const NestedName = "<function called from Clew>"

// describe finds the frame's function and source.
func (f *Frame) describe() {
	if f.Image = f.session.Image(f.LookupPC); f.Image == nil {
		f.describeAround()
		return
	}
	f.Function, _ = f.Image.Function(f.LookupPC)
	file := f.Image.File(f.LookupPC)
	if file == nil {
		return
	}
	f.Locations, _ = file.Locate(f.LookupPC)
	if len(f.Locations) == 0 {
		return
	}
	// Use the same line as steps and breakpoints.
	if row, _ := file.LineRange(f.LookupPC); row.Line != 0 {
		here := &f.Locations[0]
		here.File, here.Line, here.Column = row.File, row.Line, row.Column
	}
	if f.Level == f.base && !f.TailCall {
		skipped := 0
		if f.outer != nil {
			skipped = f.outer.skipped
		} else {
			skipped = f.session.shownPosition().skipped
		}
		f.Locations = f.Locations[min(skipped, len(f.Locations)-1):]
	}
}

// ProgramCounter returns PC and LookupPC.
func (f *Frame) ProgramCounter() (pc, lookup uint64) { return f.PC, f.LookupPC }

// Bias returns the load bias of the frame's object. It is 0 for images, because their files have
// run-time addresses.
func (f *Frame) Bias() uint64 { return f.bias }

// Register returns the value of a DWARF column in the frame, if it is known.
func (f *Frame) Register(column uint64) (uint64, bool) {
	if f.registers == nil {
		return f.session.registers.Column(column)
	}
	return f.registers.Get(column)
}

// Innermost reports whether the registers of the frame are the worker's.
func (f *Frame) Innermost() bool { return f.Level == 0 && !f.TailCall }

// RegisterBytes returns the bytes of a vector or floating-point register of the innermost frame, for
// AVX the whole ymm register. In other frames they are unknown.
func (f *Frame) RegisterBytes(column uint64) (value []byte, ok bool) {
	if !f.Innermost() {
		return nil, false
	}
	err := f.session.onWorker(func() { value, ok = f.session.worker.ColumnBytes(column) })
	return value, ok && err == nil
}

// CFA returns the canonical frame address. It is unknown in a frame with TailCall.
func (f *Frame) CFA() (uint64, bool) {
	if f.TailCall {
		return 0, false
	}
	if f.Image != nil {
		if rules, err := f.Image.rules().Rules(f.LookupPC); err == nil {
			cfa, err := rules.FrameAddress(f.session.machine, f, nil)
			return cfa, err == nil
		}
	}
	w := f.session.walk()
	start := f.session.unwindRegisters()
	if f.registers != nil {
		start = *f.registers
		start.PC = f.LookupPC // the rules at the call apply
	}
	level := 0
	for caller := range w.Walk(&start) {
		if level++; level == 2 {
			return caller.Registers.Get(uint64(f.session.machine.StackPointer))
		}
	}
	return 0, false
}

// Caller returns the frame that called this one, which can be a frame with TailCall.
func (f *Frame) Caller() value.Frame {
	if caller := f.TailCaller(); caller != nil {
		return caller
	}
	if caller := f.ReturnsTo(); caller != nil {
		return caller
	}
	return nil
}

// ReturnsTo returns the frame to which the frame's function returns, or nil if that is unknown.
func (f *Frame) ReturnsTo() *Frame {
	stack := f.stack
	if stack == nil {
		stack = f.session.frames(2)
		f.stack = stack
	} else if f.Level+1 == len(stack.Frames) && stack.limited {
		var err error
		if stack, err = f.session.Stack(f.Level + 2); err != nil {
			return nil
		}
	}
	if f.Level+1 < len(stack.Frames) {
		return &stack.Frames[f.Level+1]
	}
	return nil
}

// TailCaller returns the frame of the function that called the frame's function by a tail call.
// That function has no frame any more: it is not in Stack.Frames. As in gdb, debugging information
// shows such functions. TailCaller returns nil if none is known.
func (f *Frame) TailCaller() *Frame {
	if !f.searched {
		f.searched = true
		f.findTailCalls()
	}
	return f.tailCaller
}

// CallsItself implements value.SelfCaller.
func (f *Frame) CallsItself() bool {
	s := f.session
	return s.walk().tails.CallsItself(s.placeOf(f.LookupPC))
}

// findTailCalls sets the frames between the frame and the one that it returns to.
func (f *Frame) findTailCalls() {
	caller := f.ReturnsTo()
	// Any other method can have missed a frame between the two.
	if f.Marker || caller == nil || caller.Method != unwind.FromCFI {
		return
	}
	s, m := f.session, f.session.machine
	back, to := s.placeOf(caller.LookupPC), s.placeOf(f.LookupPC)
	back.Address += caller.PC - caller.LookupPC
	for _, call := range s.walk().tails.Between(back, to) {
		bias := call.Module.bias
		// Before a tail call a function restores its caller's registers.
		registers := *caller.registers
		registers.Forget(uint64(m.StackPointer))
		registers.Forget(uint64(m.ReturnAddress))
		registers.PC = call.PC + bias
		registers.Set(uint64(m.ProgramCounter), registers.PC)
		t := &Frame{Level: f.Level, PC: registers.PC, LookupPC: call.Lookup() + bias, Method: unwind.FromCFI, TailCall: true,
			session: s, registers: &registers, stack: f.stack, outer: f.outer, base: f.base, searched: true, tailCaller: f.tailCaller}
		t.describe()
		f.tailCaller = t
	}
}

// newTailCalls returns a finder of tail calls in the session's images and in the code around them.
func (s *Session) newTailCalls() tailcall.Finder[codeFile] {
	return tailcall.Finder[codeFile]{
		NeedReturn: true,
		File:       func(c codeFile) *object.File { return c.file },
		Definition: func(c codeFile, name string) (p tailcall.Place[codeFile]) {
			if c.image == nil {
				if symbol, ok := c.file.Symbol(name); ok && !symbol.Hidden {
					p = tailcall.Place[codeFile]{Module: c, Address: symbol.Address}
				}
			} else if address, ok := c.image.Symbol(name); ok {
				p = s.placeOf(address)
			} else if address, ok := s.Symbol(name); ok {
				p = s.placeOf(address)
			}
			return p
		},
	}
}

// placeOf returns the place of a run-time address in a file.
func (s *Session) placeOf(address uint64) tailcall.Place[codeFile] {
	var c codeFile
	if i := s.Image(address); i != nil {
		c = codeFile{image: i, file: i.File(address)}
	} else {
		c = s.walker.codeAround(address)
	}
	return tailcall.Place[codeFile]{Module: c, Address: address - c.bias}
}

// ReadMemory reads memory as Session.ReadMemory does.
func (f *Frame) ReadMemory(p []byte, address uint64) error {
	if f.registers == nil && f.session.readOnStack(p, address) {
		return nil // the frame of a condition, during a run
	}
	return f.session.ReadMemory(p, address)
}

// WriteMemory writes memory as Session.WriteMemory does.
func (f *Frame) WriteMemory(p []byte, address uint64) error { return f.session.WriteMemory(p, address) }

// Info returns the debugging information of the frame's code, or nil.
func (f *Frame) Info() *value.Info {
	if f.Image == nil {
		return f.infoAround()
	}
	return f.Image.Info(f.LookupPC)
}

// ThreadAddress returns the address of a thread-local variable of the frame's code. offset is the
// variable's offset in the program's thread-local storage.
func (f *Frame) ThreadAddress(offset uint64) (uint64, error) {
	if f.Image == nil || f.Image.program == nil || f.Image.program.TLS == nil || f.session.worker == nil {
		return 0, fmt.Errorf("thread-local variables of the code at %#x: %w", f.LookupPC, ErrNotFound)
	}
	return f.session.worker.ThreadPointer() + uint64(f.Image.program.TLS.Offset) + offset, nil
}

// SetRegister sets a register in the frame: its saved value on the stack, or the worker's register.
func (f *Frame) SetRegister(column, v uint64) error {
	if err := f.setRegister(column, v); err != nil {
		return err
	}
	if f.registers != nil {
		f.registers.Set(column, v)
	}
	if f.Level == f.base && int(column) == f.session.machine.ProgramCounter {
		f.PC, f.LookupPC = v, v
	}
	return nil
}

func (f *Frame) setRegister(column, v uint64) error {
	s := f.session
	if f.Marker || f.TailCall {
		return failure(ErrNotFound, "frame %d has no registers of its own", f.Level)
	}
	for level := f.Level - 1; level >= f.base; level-- {
		inner := &f.stack.Frames[level]
		m, _ := s.walk().modules.Find(inner.LookupPC)
		if m == nil || m.Source == nil {
			return failure(ErrNotFound, "register %d of frame %d: no rules at %#x", column, f.Level, inner.LookupPC)
		}
		rules, err := m.Source.Rules(inner.LookupPC)
		if err != nil {
			return err
		}
		n := slices.IndexFunc(rules.Registers, func(r cfi.RegisterRule) bool { return uint64(r.Column) == column })
		if n < 0 {
			if !s.machine.CalleeSaved(column) {
				return failure(ErrNotFound, "register %d of frame %d was not saved by the functions that it called", column, f.Level)
			}
			continue
		}
		switch rule := rules.Registers[n].Rule; rule.Kind {
		case cfi.SameValue:
			continue
		case cfi.Offset:
			cfa, ok := inner.CFA()
			if !ok {
				return failure(ErrNotFound, "register %d of frame %d: the canonical frame address is not known", column, f.Level)
			}
			var b [8]byte
			s.machine.Order.PutUint64(b[:], v)
			return s.WriteMemory(b[:], cfa+uint64(rule.Offset))
		default:
			return failure(ErrNotFound, "register %d of frame %d is not in memory", column, f.Level)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.outer != nil {
		return s.setSuspended(f.outer, column, v)
	}
	return s.setColumn(column, v)
}

// SetRegisterBytes sets the low bytes of a register of the frame.
func (f *Frame) SetRegisterBytes(column uint64, p []byte) error {
	if old, ok := f.Register(column); ok && len(p) <= 8 {
		var b [8]byte
		f.session.machine.Order.PutUint64(b[:], old)
		copy(b[:], p)
		return f.SetRegister(column, f.session.machine.Order.Uint64(b[:]))
	}
	if !f.Innermost() {
		return failure(ErrNotFound, "register %d of frame %d is not known", column, f.Level)
	}
	var err error
	if e := f.session.onWorker(func() { err = f.session.worker.SetColumnBytes(column, p) }); e != nil {
		return e
	}
	if err != nil {
		return fmt.Errorf("register %d: %w", column, notFound(err))
	}
	return nil
}
