// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack/codefile"
)

// Live is the system on which the processes of a recording run.
type Live interface {
	// Now returns the time by the clock of the recording.
	Now() uint64
	// Soon asks for the next samples some milliseconds after they were taken, because they are
	// compared with the memory of processes, and something there is new. Without further calls samples
	// may come late again.
	Soon()
	// Open returns the mappings and the memory of a running process, without its threads, or nil
	// if the process has exited. Memory is closed if it is an io.Closer.
	Open(pid int32) (*snapshot.Snapshot, error)
}

// closeMemory closes the memory of a snapshot that Live.Open has returned.
func closeMemory(s *snapshot.Snapshot) {
	if c, ok := s.Memory.(io.Closer); ok {
		c.Close()
	}
}

// retryPlaces names the places of generated code that had no name when they were added, once their
// files are complete: a runtime can write the names late.
func (b *builder) retryPlaces() { b.retryPlacesOf(nil) }

// retryPlacesOf is retryPlaces for those that can be in one of some jitdumps, or for all if there are none.
func (b *builder) retryPlacesOf(dumps []*jitdump) {
	read := make(map[any]bool)
	for n, u := range b.unnamed {
		if len(dumps) > 0 && !slices.ContainsFunc(u.dumps, func(d *jitdump) bool { return slices.Contains(dumps, d) }) {
			continue
		}
		c := &b.rec.places[n].Code
		for _, d := range slices.Backward(u.dumps) {
			if !read[d] {
				read[d] = true
				d.retry, b.nextRead = retry{}, time.Time{}
				d.catchUp(math.MaxUint64)
			}
			// Another function can have been there when the place was added.
			if f := d.find(u.lookup, u.first); f != nil && f == d.find(u.lookup, codefile.End) {
				c.Object = d.object()
				d.name(c, f)
			}
		}
		for m, i := u.perfMap, 0; m != nil && i < maxAncestors && c.Object == nil; m, i = m.parent, i+1 {
			if !read[m] {
				read[m] = true
				m.retry, b.nextRead = retry{}, time.Time{}
				m.catchUp(math.MaxUint64)
			}
			if s, ok := m.find(u.lookup, u.space); ok {
				c.Object, c.Symbol = m.stackObject, s
				c.Symbol.Name = b.copied(s.Name)
			}
		}
	}
	maps.DeleteFunc(b.unnamed, func(n int32, _ unnamedPlace) bool { return b.rec.places[n].Object != nil })
}

// unnamedPlace is a place in executable memory without a file and without a name.
type unnamedPlace struct {
	lookup, first uint64 // its address, and the time when it was added
	space         *space
	dumps         []*jitdump
	perfMap       *perfMap
}

// update sets the time of the next look-ups in generated code, for a thread of the process, and reads again
// what may have grown.
func (p *process) update(t *thread, at uint64) {
	s := p.space
	changed := s.code.at(at)
	if b := p.perfMap.builder; b.opts.Live != nil {
		if p.lists == nil {
			p.lists = newLists(p, b)
			p.lists.time = at
		}
		for _, d := range s.code.dumps {
			changed = d.catchUp(at) || changed
		}
		s.code.at(at)
		changed = p.perfMap.catchUp(at) || changed
		changed = p.lists.at(at) || changed
		if former := s.code.lists; former != p.lists {
			changed = changed || former != nil && len(former.states) > 0 || len(p.lists.states) > 0
			s.code.lists = p.lists
		}
	}
	if changed {
		s.changed()
		s.code.version++
	}
	if t.version != s.code.version {
		t.version = s.code.version
		t.trail.Forget() // the names of its frames can be wrong
		t.places, t.gap = t.places[:0], 0
	}
}
