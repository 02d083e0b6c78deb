// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"slices"
	"sort"

	"github.com/clewdev/clew/unwind"
)

// mapping is a range of addresses in which code can run.
type mapping struct {
	start, end uint64
	offset     uint64 // of start in the file, bytes
	file       *file  // nil for memory without a file, and for files that cannot be objects
}

// space is an address space. A forked process shares that of its parent until one of them
// changes its mappings.
type space struct {
	mappings []mapping // by start, not overlapping
	code     generatedCode
	users    int // processes that have the space

	modules  unwind.Modules // of mappings, once built is set
	built    bool
	byKey    map[mappedKey]*mapped
	byModule map[*unwind.Module]*mapped

	walker *unwind.Walker   // may be nil: see maxWalkers
	places map[uint64]int32 // by the LookupPC of frames
}

func newSpace() *space {
	s := &space{users: 1, places: make(map[uint64]int32)}
	s.code.module = unwind.Module{Name: "memory without a file", Source: &s.code}
	return s
}

// mutable returns a space that one user of s may change: s itself, or a copy if s has
// other users.
func (s *space) mutable() *space {
	if s.users == 1 {
		return s
	}
	s.users--
	c := newSpace()
	c.mappings = slices.Clone(s.mappings)
	c.code.dumps = slices.Clone(s.code.dumps)
	return c
}

// add adds a mapping to the space. It replaces the range in others.
func (s *space) add(m mapping) {
	s.remove(m.start, m.end)
	at := s.first(m.start)
	s.mappings = slices.Insert(s.mappings, at, m)
	if s.built {
		s.modules.Add(m.start, m.end, s.moduleOf(&m))
	}
}

// first returns the index of the first mapping that ends after an address.
func (s *space) first(address uint64) int {
	if n := len(s.mappings); n == 0 || s.mappings[n-1].end <= address {
		return n // most mappings come in order
	}
	return sort.Search(len(s.mappings), func(i int) bool { return s.mappings[i].end > address })
}

// remove removes a range from the space.
func (s *space) remove(start, end uint64) {
	if s.built {
		s.modules.Remove(start, end)
		s.changed()
	}
	low := s.first(start)
	if low == len(s.mappings) || s.mappings[low].start >= end {
		return
	}
	high := low
	kept := make([]mapping, 0, 2) // the parts before and after the range
	for ; high < len(s.mappings) && s.mappings[high].start < end; high++ {
		m := s.mappings[high]
		if m.start < start {
			before := m
			before.end = start
			kept = append(kept, before)
		}
		if m.end > end {
			m.offset += end - m.start
			m.start = end
			kept = append(kept, m)
		}
	}
	s.mappings = slices.Replace(s.mappings, low, high, kept...)
}

// buildCost is how often a mapping can be moved in the time of building its module.
const buildCost = 16

// moves returns the cost of a change from an address on: mappings that it moves or copies.
func (s *space) moves(from uint64) int {
	n := len(s.mappings) - s.first(from)
	if s.users > 1 {
		n += buildCost * len(s.mappings)
	}
	return n
}

// overlaps reports whether a part of a range is mapped.
func (s *space) overlaps(start, end uint64) bool {
	at := s.first(start)
	return at < len(s.mappings) && s.mappings[at].start < end
}

// maxPieces is how many mappings holds checks.
const maxPieces = 16

// holds reports whether a few mappings of the space cover a mapping with the same file at
// the same offsets.
func (s *space) holds(m mapping) bool {
	i := s.first(m.start)
	at := m.start
	for n := 0; at < m.end; n++ {
		if n == maxPieces || i+n == len(s.mappings) || s.mappings[i+n].start > at {
			return false
		}
		have := &s.mappings[i+n]
		if have.file != m.file || m.file != nil && have.start-have.offset != m.start-m.offset {
			return false
		}
		at = have.end
	}
	return true
}

// at sets the time, for generated code.
func (s *space) at(time uint64) {
	if s.code.at(time) {
		s.changed()
	}
}

// changed drops the results of look-ups.
func (s *space) changed() {
	s.modules.Changed()
	if len(s.places) > 0 {
		s.places = make(map[uint64]int32)
	}
}

// mapped is a module of a space: a file, mapped at one distance between its offsets and
// the addresses.
type mapped struct {
	unwind.Module
	file  *file
	space *space
	m     mapping // one of its mappings
}

type mappedKey struct {
	file  *file
	delta uint64
}

// lookup returns the modules of the space. It builds them at the first call.
func (s *space) lookup() *unwind.Modules {
	if s.built {
		return &s.modules
	}
	s.built = true
	for i := range s.mappings {
		m := &s.mappings[i]
		s.modules.Add(m.start, m.end, s.moduleOf(m))
	}
	s.changed()
	return &s.modules
}

func (s *space) moduleOf(m *mapping) *unwind.Module {
	if m.file == nil {
		return &s.code.module
	}
	return &s.module(m).Module
}

// module returns the module of a mapping of a file.
func (s *space) module(m *mapping) *mapped {
	key := mappedKey{m.file, m.start - m.offset}
	if known := s.byKey[key]; known != nil {
		return known
	}
	if len(s.byKey) >= 2*len(s.mappings)+minModules {
		s.dropUnmapped()
	}
	if s.byKey == nil {
		s.byKey = make(map[mappedKey]*mapped)
		s.byModule = make(map[*unwind.Module]*mapped)
	}
	n := &mapped{file: m.file, space: s, m: *m}
	n.Module = unwind.Module{Name: m.file.path, Load: n.load}
	s.byKey[key], s.byModule[&n.Module] = n, n
	return n
}

// minModules is how many modules of a space are kept without dropping unmapped ones.
const minModules = 64

// dropUnmapped drops the modules without a mapping.
func (s *space) dropUnmapped() {
	used := make(map[mappedKey]bool, len(s.mappings))
	for i := range s.mappings {
		used[mappedKey{s.mappings[i].file, s.mappings[i].start - s.mappings[i].offset}] = true
	}
	for key, n := range s.byKey {
		if !used[key] {
			delete(s.byKey, key)
			delete(s.byModule, &n.Module)
		}
	}
}

// load sets the unwind tables of the module: those of its file, or of generated code if the
// file is not an object file.
func (n *mapped) load(m *unwind.Module) {
	bias, err := n.file.bias(&n.m)
	if err != nil {
		m.Source = &n.space.code
		return
	}
	m.Bias, m.Source, m.Function = bias, n.file.tables.Source, n.file.tables.Function
}
