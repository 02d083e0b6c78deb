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

	// Load sets Bias, Source and Function. The walker calls it once, before it first
	// needs them, so that objects without a frame are never opened. It is nil if they
	// are set already.
	Load func(*Module)
}

func (m *Module) loaded() *Module {
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
	ranges []moduleRange

	// generation changes when the facts that walkers have cached about addresses may be
	// stale. No two states of any Modules share a generation, except the empty state.
	generation uint64
}

var generations atomic.Uint64

type moduleRange struct {
	start, end uint64
	module     *Module
}

// Add assigns the executable range [start, end) of run-time addresses to a module. Like
// a new mapping, it replaces earlier assignments of any part of the range. A module can
// have several ranges. A nil module is executable memory that belongs to no object,
// such as generated code.
func (m *Modules) Add(start, end uint64, module *Module) {
	m.Remove(start, end)
	if start < end {
		m.insert(m.above(start), moduleRange{start, end, module})
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
	first := m.above(start)
	if first > 0 && m.ranges[first-1].end > start {
		first--
	}
	last := first
	for last < len(m.ranges) && m.ranges[last].start < end {
		last++
	}
	if first == last {
		return
	}
	before, after := m.ranges[first], m.ranges[last-1]
	m.starts = slices.Delete(m.starts, first, last)
	m.ranges = slices.Delete(m.ranges, first, last)
	if after.end > end {
		m.insert(first, moduleRange{end, after.end, after.module})
	}
	if before.start < start {
		m.insert(first, moduleRange{before.start, start, before.module})
	}
}

// Changed must be called after a module or its Source has changed: walkers then forget the
// facts about all addresses. Add and Remove call it.
func (m *Modules) Changed() { m.generation = generations.Add(1) }

func (m *Modules) insert(at int, r moduleRange) {
	m.starts = slices.Insert(m.starts, at, r.start)
	m.ranges = slices.Insert(m.ranges, at, r)
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
	if module == nil || module.loaded().Source == nil {
		return nil, fmt.Errorf("%w: no module covers %#x", cfi.ErrNoFDE, pc)
	}
	return module.Source.Rules(pc - module.Bias)
}

// Find returns the module of a run-time address, nil for none, and whether the address
// is executable.
func (m *Modules) Find(pc uint64) (*Module, bool) {
	if r := m.at(pc); r != nil {
		return r.module, true
	}
	return nil, false
}

// at returns the range of an address, nil for none.
func (m *Modules) at(pc uint64) *moduleRange {
	if n := m.above(pc); n > 0 && pc < m.ranges[n-1].end {
		return &m.ranges[n-1]
	}
	return nil
}

// module is Modules.Find, but checks the most recently found range first.
func (w *Walker) module(pc uint64) (*Module, bool) {
	if r := &w.last; pc-r.start < r.end-r.start {
		return r.module, true
	}
	if r := w.Modules.at(pc); r != nil {
		w.last = *r
		return r.module, true
	}
	return nil, false
}
