// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"slices"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/stack"
)

// included is memory to copy with the stack of a thread, because walks of its stack lead there.
type included struct {
	pages  []uint64
	ranges []snapshot.Copy // around the pages, by address; they do not overlap
	asked  int             // calls of Include since the memory was last forgotten
}

const (
	// maxIncluded bounds the memory that is included for one thread, in bytes.
	maxIncluded = 128 << 10

	// maxAsked bounds the calls of Include for a thread that succeed, until the included
	// memory is forgotten after includedFor snapshots.
	maxAsked    = 32
	includedFor = 256
)

// Include makes later snapshots copy the memory around some pages of 4 KiB together with the stack
// of a thread, while the thread stands still. Those are the pages that a walk of its stack had to
// read (snapshot.ThreadMemory.LatePages), as where a function has changed stacks. It reports whether
// the next snapshot contains more memory than the last one. The memory is forgotten after some
// snapshots.
func (w *Watch) Include(tid int, pages []uint64) bool {
	known := w.included[tid]
	if known == nil {
		known = new(included)
	}
	if known.asked >= maxAsked {
		return false
	}
	all := append(slices.Clone(pages), known.pages...)
	ranges := around(w.s, all)
	if size(ranges) > maxIncluded {
		all = slices.Clone(pages)
		ranges = around(w.s, all)
	}
	for size(ranges) > maxIncluded {
		ranges = ranges[:len(ranges)-1]
	}
	if len(ranges) == 0 {
		return false
	}
	if w.included == nil {
		w.included = make(map[int]*included)
	}
	w.included[tid] = &included{all, ranges, known.asked + 1}
	return true
}

func size(ranges []snapshot.Copy) (n int) {
	for i := range ranges {
		n += len(ranges[i].Bytes)
	}
	return n
}

// copyIncluded copies the included memory of a thread that stands still.
func (c *capture) copyIncluded(t *tracee) {
	if c.included == nil {
		return
	}
	if more := c.included[t.tid]; more != nil {
		round := slices.Clone(more.ranges) // readRound drops the Bytes of those that it cannot read
		c.stacks.readRound(t.tid, round)
		t.copies = append(t.copies, slices.DeleteFunc(round, func(r snapshot.Copy) bool { return r.Bytes == nil })...)
	}
}

// Sample takes a snapshot, and samples the stacks of its threads. It takes a second one of the
// threads whose walks left the copies of their stacks, and includes the memory that these had to
// read. The threads of Target are those of the last snapshot; Pauses are those of both.
func (w *Watch) Sample(s *stack.Sampler) error {
	var again []int
	s.LatePages = func(tid int, pages []uint64) bool {
		if !w.Include(tid, pages) {
			return false
		}
		again = append(again, tid)
		return true
	}
	_, moved, err := w.Snapshot()
	if err != nil {
		return err
	}
	if s.Sample(moved); len(again) == 0 {
		return nil
	}
	first, selected := w.pauses, w.options.Threads
	w.options.Threads = again
	s.LatePages = nil
	if _, moved, err = w.Snapshot(); err == nil {
		s.Sample(moved)
	}
	w.options.Threads = selected
	w.pauses.Threads += first.Threads
	w.pauses.Total += first.Total
	w.pauses.Longest = max(w.pauses.Longest, first.Longest)
	return nil // an error here is also that of the next call
}
