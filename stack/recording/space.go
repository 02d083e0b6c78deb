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
	file       *file  // nil: memory without a file, or with one that is no object's
}

// space is an address space: of one process, or of several that forks made and
// that have mapped nothing since.
type space struct {
	mappings []mapping     // by start, not overlapping
	code     generatedCode // what is known of generated code in it
	users    int           // processes that have it

	modules  unwind.Modules // of mappings
	built    bool           // modules are those of mappings, and are kept so
	byKey    map[mappedKey]*mapped
	byModule map[*unwind.Module]*mapped

	walker *unwind.Walker   // nil where it has none now
	places map[uint64]int32 // numbers of frames by the address that tells where they are
}

func newSpace() *space {
	s := &space{users: 1, places: make(map[uint64]int32)}
	s.code.module = unwind.Module{Name: "memory without a file", Source: &s.code}
	return s
}

// mutable returns a space that its caller, who has s, may change: s itself, or a
// copy where others have it too.
func (s *space) mutable() *space {
	if s.users == 1 {
		return s
	}
	s.users--
	c := newSpace()
	c.mappings = slices.Clone(s.mappings)
	c.code.inherit(&s.code)
	return c
}

// add makes a mapping part of the space, in place of what was there.
func (s *space) add(m mapping) {
	s.remove(m.start, m.end)
	at := s.first(m.start)
	s.mappings = slices.Insert(s.mappings, at, m)
	if s.built {
		s.modules.Add(m.start, m.end, s.moduleOf(&m))
	}
}

// first returns the index of the first mapping that ends behind an address.
func (s *space) first(address uint64) int {
	if n := len(s.mappings); n == 0 || s.mappings[n-1].end <= address {
		return n // mostly, they come in order
	}
	return sort.Search(len(s.mappings), func(i int) bool { return s.mappings[i].end > address })
}

// remove takes a range out of the space; of a mapping that is there in part the
// rest stays.
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
	var rest [2]mapping
	left := rest[:0]
	for ; high < len(s.mappings) && s.mappings[high].start < end; high++ {
		m := s.mappings[high]
		if m.start < start {
			before := m
			before.end = start
			left = append(left, before)
		}
		if m.end > end {
			behind := m
			behind.start = end
			behind.offset += end - m.start
			left = append(left, behind)
		}
	}
	s.mappings = slices.Replace(s.mappings, low, high, left...)
}

// buildCost is how much longer it takes to build the modules of a mapping than to
// move it.
const buildCost = 16

// moves returns how many mappings a change from an address on moves, or has copied.
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

// maxPieces is how many mappings holds looks at.
const maxPieces = 16

// holds reports whether all of a range is mapped with a file as that continues:
// by few mappings, or it says false, and the range is better mapped anew as one.
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

// at makes the generated code that which is there at a time.
func (s *space) at(time uint64) {
	if s.code.at(time) {
		s.changed()
	}
}

// changed forgets what was found at addresses.
func (s *space) changed() {
	s.modules.Changed()
	if len(s.places) > 0 {
		s.places = make(map[uint64]int32)
	}
}

// mapped is a module of a space: a file with the distance between its offsets and
// the addresses that they are mapped at.
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

// lookup returns the modules of the space.
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

// moduleOf returns the module of a mapping.
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
		s.forget()
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

// minModules is how many modules are kept without a look at what is mapped.
const minModules = 64

// forget forgets the modules that have no mapping any more.
func (s *space) forget() {
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

// load gives the module the unwind tables of its file, or those of generated code
// where that is no object file.
func (n *mapped) load(m *unwind.Module) {
	bias, err := n.file.bias(&n.m)
	if err != nil {
		m.Source = &n.space.code
		return
	}
	m.Bias, m.Source, m.Function = bias, n.file.tables.Source, n.file.tables.Function
}
