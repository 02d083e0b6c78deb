// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"io"

	"github.com/clewdev/clew/snapshot"
)

// Live is the system on which the processes of a recording run.
type Live interface {
	// Now returns the time by the clock of the recording.
	Now() uint64
	// Soon asks for the next samples some milliseconds after they were taken, because they are
	// compared with the memory of processes, and something there is new. Without further calls samples
	// may come late again.
	Soon()
	// StackWalked reports which part of the stack of a thread a walk has needed: from the stack pointer to that
	// of the outermost frame, or to one byte after the copy if that was too short. Whole says that the walk
	// reached the outermost frame. The next copies of the thread need no more as long as that frame
	// stays.
	StackWalked(pid, tid int32, sp, end uint64, whole bool)
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
		changed = b.retryManyPlaces() || changed || s.code.namedLater() // this sample can have places of its own
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
