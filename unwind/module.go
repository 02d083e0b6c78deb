// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/clewdev/clew/cfi"
)

// Module is one mapped object with a load bias.
type Module struct {
	Name string

	// Bias is added to an address of the object to get the run-time address.
	Bias uint64
	// Source finds the module's rules; nil for none.
	Source Source

	// Function returns the start of the function that contains an address, both without
	// Bias. ok is false if it is not known. The walker calls it for frames without call
	// frame information. It is nil if no functions are known.
	Function func(pc uint64) (start uint64, ok bool)

	// Analyze returns rules for an address without Bias that the Source does not cover, made
	// from the instructions of its function. They are those before the instruction at the
	// address, for a function that was called as the ABI says. Analyze returns nil if the
	// instructions do not determine them. The walker checks that the return address which
	// they give follows a call. Analyze is nil if code is not analysed.
	Analyze func(pc uint64) *Rules

	// SwitchesStack reports whether the function at an address without Bias returns to another
	// stack than it runs on, although its rules do not say so: see Rules.OtherStack. The
	// walker asks only about frames whose caller's stack pointer is further down the stack.
	// SwitchesStack is nil if there are no such functions.
	SwitchesStack func(pc uint64) bool

	// Load sets Bias, Source, Function, SwitchesStack and Analyze. The walker calls it once, before it first
	// needs them, so that objects without a frame are never opened. It is nil if they
	// are set already.
	Load func(*Module)

	// Owner is for the caller, such as the object of the module. The walker does not use it.
	Owner any
}

// Loaded calls Load if that was not done, and returns m.
func (m *Module) Loaded() *Module {
	if load := m.Load; load != nil {
		m.Load = nil
		load(m)
	}
	return m
}

// Modules are the executable ranges of an address space. It is not safe for
// concurrent use while modules are added or loaded.
type Modules struct {
	starts []uint64 // of the ranges, which are sorted and do not overlap
	ranges []Range

	// generation changes when the facts that walkers have cached about addresses may be
	// stale. No two states of any Modules share a generation, except the empty state.
	generation uint64
}

var generations atomic.Uint64

// Range is a range of run-time addresses of a module.
type Range struct {
	Start, End uint64 // [Start, End)
	Module     *Module
}

// Add assigns the executable range [start, end) of run-time addresses to a module. Like
// a new mapping, it replaces earlier assignments of any part of the range. A module can
// have several ranges. A nil module is executable memory that belongs to no object,
// such as generated code.
func (m *Modules) Add(start, end uint64, module *Module) {
	m.Remove(start, end)
	if start < end {
		m.insert(m.above(start), Range{start, end, module})
	}
}

// Remove removes every assignment in the range [start, end): it is not executable any
// more.
func (m *Modules) Remove(start, end uint64) {
	m.Changed()
	if start >= end {
		return
	}
	// The ranges that reach into it are [first, last).
	first := m.Index(start)
	last := first
	for last < len(m.ranges) && m.ranges[last].Start < end {
		last++
	}
	if first == last {
		return
	}
	before, after := m.ranges[first], m.ranges[last-1]
	m.starts = slices.Delete(m.starts, first, last)
	m.ranges = slices.Delete(m.ranges, first, last)
	if after.End > end {
		m.insert(first, Range{end, after.End, after.Module})
	}
	if before.Start < start {
		m.insert(first, Range{before.Start, start, before.Module})
	}
}

// Changed must be called after a module or its Source has changed: walkers then forget the
// facts about all addresses. Add and Remove call it.
func (m *Modules) Changed() { m.generation = generations.Add(1) }

func (m *Modules) insert(at int, r Range) {
	m.starts = slices.Insert(m.starts, at, r.Start)
	m.ranges = slices.Insert(m.ranges, at, r)
}

// Ranges returns all ranges, by ascending address. The caller must not change them.
func (m *Modules) Ranges() []Range { return m.ranges }

// Index returns the index of the first of the Ranges that ends after an address.
func (m *Modules) Index(address uint64) int {
	i := m.above(address)
	if i > 0 && m.ranges[i-1].End > address {
		i--
	}
	return i
}

// Clone returns a copy, with the same modules.
func (m *Modules) Clone() Modules {
	c := Modules{starts: slices.Clone(m.starts), ranges: slices.Clone(m.ranges)}
	c.Changed()
	return c
}

// above returns the number of ranges that start at or below an address.
func (m *Modules) above(pc uint64) int {
	// The binary search has no unpredictable branches.
	starts := m.starts
	low := 0
	for n := len(starts); n > 0; {
		half := (n + 1) / 2
		next := low
		if starts[low+half-1] <= pc {
			next = low + half
		}
		low = next
		n -= half
	}
	return low
}

// Rules returns the rules that hold at a run-time address. The error wraps cfi.ErrNoFDE if
// no module's rules cover it.
func (m *Modules) Rules(pc uint64) (*Rules, error) {
	module, _ := m.Find(pc)
	if module == nil || module.Loaded().Source == nil {
		return nil, fmt.Errorf("%w: no module covers %#x", cfi.ErrNoFDE, pc)
	}
	return module.Source.Rules(pc - module.Bias)
}

// Find returns the module of a run-time address, nil for none, and whether the address
// is executable.
func (m *Modules) Find(pc uint64) (*Module, bool) {
	if r := m.at(pc); r != nil {
		return r.Module, true
	}
	return nil, false
}

// at returns the range of an address, nil for none.
func (m *Modules) at(pc uint64) *Range {
	if n := m.above(pc); n > 0 && pc < m.ranges[n-1].End {
		return &m.ranges[n-1]
	}
	return nil
}

// module is Modules.Find, but checks the most recently found range first.
func (w *Walker) module(pc uint64) (*Module, bool) {
	if r := &w.last; pc-r.Start < r.End-r.Start {
		return r.Module, true
	}
	if r := w.Modules.at(pc); r != nil {
		w.last = *r
		return r.Module, true
	}
	return nil, false
}
