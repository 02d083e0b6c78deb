// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"iter"
	"slices"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/tailcall"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// Stack is the stack of a stopped session.
type Stack struct {
	// Frames are the frames on the stack, innermost first. The last is that of the function that
	// the outermost call called.
	Frames []Frame

	// Reason is the reason why the walk ended, and Err its error.
	Reason unwind.Reason
	Err    error

	limited bool // there may be more frames
}

// All returns the frames and, after each, its TailCaller and those of that.
func (s *Stack) All() iter.Seq[*Frame] {
	return func(yield func(*Frame) bool) {
		added := 0
		for i := range s.Frames {
			f := &s.Frames[i]
			if !yield(f) {
				return
			}
			for f = f.TailCaller(); f != nil && added < tailcall.MaxFrames; f = f.TailCaller() {
				if !yield(f) {
					return
				}
				added++
			}
		}
	}
}

// walker walks the worker's stack. Its modules cover images.
type walker struct {
	unwind.Walker
	images  *[]*Image // the list of the session when the modules were made
	modules unwind.Modules
	around  *surroundings // nil until a stack has code outside the images
	looked  epoch         // of the last read of around
	tails   tailcall.Finder[codeFile]
}

// codeFile is a file that describes code.
type codeFile struct {
	image *Image // nil for code outside the images
	file  *object.File
	bias  uint64 // load bias
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
	w.tails = s.newTailCalls()
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
		s.hit.bias = s.walker.codeAround(pc).bias
	}
	return &s.hit
}
