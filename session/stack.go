// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/value"
)

// Frame is one frame of a stopped session's stack. It implements value.Frame, value.Writer and
// value.ThreadStorage, and is valid until the session resumes. The frames of a session share its
// walker: only one goroutine at a time may use them or call Session.Stack.
type Frame struct {
	Level int // 0 is the innermost

	// PC and LookupPC are run-time addresses, as in unwind.Frame. In a frame that waits for a call
	// to return, LookupPC is in the call instruction.
	PC, LookupPC uint64
	Method       unwind.Method

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
}

// NestedName is the name of the function of a frame with Marker.
const NestedName = "<function called from Clew>"

// Stack is the stack of a stopped session.
type Stack struct {
	Frames []Frame // innermost first; the last is the function that the outermost call called

	// Reason is the reason why the walk ended, and Err its error.
	Reason unwind.Reason
	Err    error

	limited bool // there may be more frames
}

// walker walks the worker's stack. Its modules cover images.
type walker struct {
	unwind.Walker
	images  *[]*Image // the list of the session when the modules were made
	modules unwind.Modules
	around  *surroundings // nil until a stack has code outside the images
	looked  epoch         // of the last read of around
}

// epoch is a period in which mappings are assumed not to change: a run, or the stop after it.
type epoch struct {
	run     *outcome
	running bool
}

// tables is the unwind.Source of an image.
type tables []*unwind.Table

func (t tables) Rules(pc uint64) (*unwind.Rules, error) {
	err := error(cfi.ErrNoFDE)
	for _, table := range t {
		var rules *unwind.Rules
		if rules, err = table.Rules(pc); !errors.Is(err, cfi.ErrNoFDE) {
			return rules, err
		}
	}
	return nil, err
}

// rules returns the image's unwind tables, compiled once for all sessions.
func (i *Image) rules() tables {
	i.compile.Do(func() {
		for _, f := range i.files {
			sections, _ := f.CFISections() // ignore damaged sections
			for _, s := range sections {
				i.compiled = append(i.compiled, unwind.Compile(s))
			}
		}
	})
	return i.compiled
}

func (s *Session) walk() *walker {
	list := s.imageList.Load()
	if s.walker.images == list {
		return &s.walker
	}
	w := &s.walker
	w.closeSurroundings()
	*w = walker{images: list}
	w.addImages(s)
	w.Walker = unwind.Walker{Machine: s.machine, Modules: &w.modules, Memory: s}
	return w
}

func (w *walker) addImages(s *Session) {
	for _, i := range append(slices.Clone(*w.images), s.returns) {
		m := &unwind.Module{Name: i.name}
		if rules := i.rules(); len(rules) > 0 {
			m.Source = rules
		}
		for _, r := range i.ranges {
			w.modules.Add(r.Start, r.End, m)
		}
	}
}

// Stack returns at most limit frames, or all if limit is 0. The error is ErrNotStopped, ErrRunning or
// ErrClosed.
func (s *Session) Stack(limit int) (*Stack, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := whileStopped(s.state); err != nil {
		return nil, err
	}
	return s.frames(limit), nil
}

// frames is Stack for callers that hold mu or are the controlling goroutine.
func (s *Session) frames(limit int) *Stack {
	stack := s.walkFrames(limit)
	outside := slices.ContainsFunc(stack.Frames, func(f Frame) bool { return f.Image == nil && f.Object == "" })
	if outside && s.lookAround() {
		stack = s.walkFrames(limit)
	}
	return stack
}

// lookAround reads the mappings around the images, at most once in each epoch, and reports whether
// it did. It closes the objects of the previous read.
func (s *Session) lookAround() bool {
	w := s.walk()
	now := epoch{s.latest, s.running}
	if w.looked == now || w.surround(s) != nil {
		return false
	}
	w.looked = now
	return true
}

func (s *Session) walkFrames(limit int) *Stack {
	w := s.walk()
	stack := &Stack{}
	start := s.unwindRegisters()
	var outer *suspended
	for n := len(s.nested) - 1; s.walkCall(stack, &start, outer, limit) && n >= 0; n-- {
		if stack.limited = limit > 0 && len(stack.Frames) == limit; stack.limited {
			break
		}
		registers := start
		stack.Frames = append(stack.Frames, Frame{Level: len(stack.Frames), PC: start.PC, LookupPC: start.PC - 1, Marker: true,
			Image: s.returns, Function: Function{Name: NestedName, Start: s.returns.ranges[0].Start, Size: s.returns.ranges[0].size()},
			session: s, registers: &registers, stack: stack, outer: outer, base: len(stack.Frames)})
		outer = s.nested[n]
		r := Registers{outer.registers}
		start = r.Unwind()
	}
	stack.Reason, stack.Err = w.Reason(), w.Err()
	return stack
}

// walkCall appends the frames of one call to a stack, which begin with the registers start. It
// reports whether the walk has reached the end of the call, and then sets start to the registers
// there.
func (s *Session) walkCall(stack *Stack, start *unwind.Registers, outer *suspended, limit int) (ended bool) {
	end := returnAddress(s.returns)
	base := len(stack.Frames)
	first := *start
	for f := range s.walk().Walk(&first) {
		if f.PC == end {
			*start = *f.Registers
			return true
		}
		if stack.limited = limit > 0 && len(stack.Frames) == limit; stack.limited {
			return false
		}
		registers := *f.Registers
		frame := Frame{Level: len(stack.Frames), PC: f.PC, LookupPC: f.LookupPC, Method: f.Method, session: s, registers: &registers, stack: stack,
			outer: outer, base: base}
		frame.describe()
		stack.Frames = append(stack.Frames, frame)
	}
	return false
}

func (s *Session) unwindRegisters() unwind.Registers {
	r := Registers{s.registers}
	return r.Unwind()
}

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
	if f.Level == f.base {
		skipped := 0
		if f.outer != nil {
			skipped = f.outer.skipped
		} else {
			skipped = f.session.shownPosition().skipped
		}
		f.Locations = f.Locations[min(skipped, len(f.Locations)-1):]
	}
}

// Frame returns the innermost frame. It returns the same errors as [Session.Stack],
// and an error that wraps ErrNotFound if a hardware breakpoint in ReturnImage stopped the session.
func (s *Session) Frame() (*Frame, error) {
	stack, err := s.Stack(1)
	if err != nil {
		return nil, err
	}
	if len(stack.Frames) == 0 {
		return nil, failure(ErrNotFound, "the function that was called has returned")
	}
	return &stack.Frames[0], nil
}

// innermost returns the innermost frame without its function, for conditions and logpoints. The next
// call overwrites it.
func (s *Session) innermost() *Frame {
	pc := s.registers.PC()
	s.hit = Frame{PC: pc, LookupPC: pc, session: s, Image: s.Image(pc)}
	if s.hit.Image == nil {
		s.lookAround()
		s.hit.bias = s.walker.biasAround(pc)
	}
	return &s.hit
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

// RegisterBytes returns the bytes of a vector or floating-point register of the innermost frame, for
// AVX the whole ymm register. In other frames they are unknown.
func (f *Frame) RegisterBytes(column uint64) (value []byte, ok bool) {
	if f.Level != 0 {
		return nil, false
	}
	err := f.session.onWorker(func() { value, ok = f.session.worker.ColumnBytes(column) })
	return value, ok && err == nil
}

// CFA returns the canonical frame address.
func (f *Frame) CFA() (uint64, bool) {
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

// Caller returns the frame that called this one.
func (f *Frame) Caller() value.Frame {
	stack := f.stack
	if stack == nil {
		stack = f.session.frames(2)
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
	if f.Marker {
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
	if f.Level > 0 {
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
