// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"slices"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// space is an address space. A forked process shares that of its parent until one of them
// changes its mappings.
type space struct {
	modules unwind.Modules // of files, each with a mapped as its Owner, and of memory without a file
	code    generatedCode
	users   int // processes that have the space

	walker *unwind.Walker   // may be nil: see maxWalkers
	places map[uint64]int32 // by the LookupPC of frames

	goFunctions map[uint64]*object.GoFunction // by addresses; nil where there is none
}

func newSpace() *space { return &space{users: 1, places: make(map[uint64]int32)} }

// mapped is a file that is mapped as code. A part of the mapping can have been replaced.
type mapped struct {
	unwind.Module
	file       *file
	start, end uint64
	offset     uint64 // of start in the file, bytes
	fits       bool   // the file was opened, and Bias is known
}

// newMapped returns a mapped file.
func newMapped(f *file, start, end, offset uint64) *mapped {
	n := &mapped{file: f, start: start, end: end, offset: offset}
	n.Module = unwind.Module{Name: f.path, Load: loadMapped, Owner: n}
	return n
}

// mappedBy returns the mapped file of a module, nil for none.
func mappedBy(m *unwind.Module) (n *mapped) {
	if m != nil {
		n, _ = m.Owner.(*mapped)
	}
	return n
}

// loadMapped sets the unwind tables of a mapped file: those of the file, or of generated code
// if the file is not an object file.
func loadMapped(m *unwind.Module) {
	n := mappedBy(m)
	bias, err := n.file.bias(n)
	n.file = n.file.canonical()
	if err != nil {
		m.Source = &n.file.builder.walk.memory
		return
	}
	n.fits = true
	m.Bias, m.Source, m.Function = bias, n.file.tables.Source, n.file.tables.Function
	m.SwitchesStack = n.file.tables.SwitchesStack
	m.Analyze = n.file.tables.Analyze(n.file.object, n.file.builder.opts.Analyzer)
}

// mutable returns a space that one user of s may change: s itself, or a copy if s has
// other users.
func (s *space) mutable() *space {
	if s.users == 1 {
		return s
	}
	s.users--
	c := newSpace()
	c.modules = s.modules.Clone()
	c.code.dumps = slices.Clone(s.code.dumps)
	return c
}

// size returns the number of mappings. The parts of a mapping count as several.
func (s *space) size() int { return len(s.modules.Ranges()) }

// copyCost is how often a mapping can be moved in the time of copying it for a process.
const copyCost = 8

// moves returns the cost of a change from an address on: mappings that it moves or copies.
func (s *space) moves(from uint64) int {
	n := s.size() - s.modules.Index(from)
	if s.users > 1 {
		n += copyCost * s.size()
	}
	return n
}

// overlaps reports whether a part of a range is mapped.
func (s *space) overlaps(start, end uint64) bool {
	at := s.modules.Index(start)
	return at < s.size() && s.modules.Ranges()[at].Start < end
}

// maxPieces is how many mappings holds checks.
const maxPieces = 16

// holds reports whether a few mappings of the space cover a range with the same file at
// the same offsets. The file is nil for memory without a file.
func (s *space) holds(start, end uint64, f *file, offset uint64) bool {
	ranges := s.modules.Ranges()[s.modules.Index(start):]
	at := start
	for _, r := range ranges[:min(len(ranges), maxPieces)] {
		n := mappedBy(r.Module)
		if r.Start > at || (n == nil) != (f == nil) || n != nil && (n.file.canonical() != f || n.start-n.offset != start-offset) {
			return false
		}
		if at = r.End; at >= end {
			return true
		}
	}
	return false
}

// changed drops the results of look-ups.
func (s *space) changed() {
	s.modules.Changed()
	if len(s.places) > 0 {
		s.places = make(map[uint64]int32)
	}
	clear(s.goFunctions)
}
