// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"cmp"
	"slices"
	"sort"
)

// Module is one mapped object with a load bias.
type Module struct {
	Name string

	// Bias is what is added to an address of the object to get the run-time address.
	Bias uint64
	// Source finds the module's rules; nil where it has none.
	Source Source

	// Load fills Bias and Source, and is called once, before they are first
	// needed; nil where they are set already. Objects that no frame lies in
	// are so never opened.
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
	ranges []moduleRange
	last   int
}

type moduleRange struct {
	start, end uint64
	module     *Module
}

// Add says that the executable range [start, end), run-time addresses, belongs
// to a module. Ranges do not overlap; a module can have several. A nil module
// is executable memory that belongs to no object, such as generated code.
func (m *Modules) Add(start, end uint64, module *Module) {
	m.ranges = append(m.ranges, moduleRange{start, end, module})
	if n := len(m.ranges); n > 1 && m.ranges[n-2].start > start {
		slices.SortFunc(m.ranges, func(a, b moduleRange) int { return cmp.Compare(a.start, b.start) })
	}
}

// Find returns the module of a run-time address, nil where it belongs to none,
// and whether the address is executable.
func (m *Modules) Find(pc uint64) (*Module, bool) {
	if m.last < len(m.ranges) {
		if r := &m.ranges[m.last]; r.start <= pc && pc < r.end {
			return r.module, true
		}
	}
	n := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].start > pc })
	if n == 0 || pc >= m.ranges[n-1].end {
		return nil, false
	}
	m.last = n - 1
	return m.ranges[n-1].module, true
}
