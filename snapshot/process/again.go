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

// A second snapshot copies moreBelow bytes below a page that a walk read, and moreAbove after
// it, because the threads have run meanwhile; at most maxMore in total.
const (
	moreBelow = 4 << 10
	moreAbove = 16 << 10
	maxMore   = 1 << 20
)

// again takes a second snapshot with copies of memory around pages that the walk of the first
// one had to read late. It returns the first one if that is not possible.
func again(first *stack.Walked, opts *Options, walk stack.WalkOptions, pages []uint64) *stack.Walked {
	if opts = opts.around(first.Snapshot, pages); opts == nil {
		return first
	}
	second, err := takeStacks(first.Snapshot.PID, opts, walk)
	if err != nil {
		return first
	}
	first.Objects.Close()
	replace(first.Snapshot, second.Snapshot)
	return second
}

// around returns the options for a second snapshot with copies of memory around pages, nil if
// there is nothing to copy. o may be nil.
func (o *Options) around(first *snapshot.Snapshot, pages []uint64) *Options {
	own := Options{}
	if o != nil {
		own = *o
	}
	if own.more = around(first, pages); own.Hold != nil || own.more == nil {
		return nil
	}
	return &own
}

// replace returns the second snapshot of a process, which replaces the first one.
func replace(first, second *snapshot.Snapshot) *snapshot.Snapshot {
	second.Pause += first.Pause
	first.Memory.(*Memory).Close()
	return second
}

// around returns ranges of the writable mappings around pages, by address.
func around(s *snapshot.Snapshot, pages []uint64) (ranges []snapshot.Copy) {
	slices.Sort(pages)
	left := uint64(maxMore)
	for _, page := range pages {
		m := s.Mapping(page)
		if m == nil || !m.Readable || !m.Writable {
			continue
		}
		start, end := max(m.Start, page-min(page, moreBelow)), min(m.End, saturate(page, moreAbove))
		last := len(ranges) - 1
		if last >= 0 {
			start = max(start, ranges[last].Address+uint64(len(ranges[last].Bytes)))
		}
		if start >= end || end-start > left {
			continue
		}
		left -= end - start
		if last >= 0 && start == ranges[last].Address+uint64(len(ranges[last].Bytes)) {
			ranges[last].Bytes = make([]byte, end-ranges[last].Address)
			continue
		}
		ranges = append(ranges, snapshot.Copy{Address: start, Bytes: make([]byte, end-start)})
	}
	return ranges
}

// copyMore fills the copies that a second snapshot adds.
func (c *capture) copyMore() {
	if len(c.more) == 0 {
		return
	}
	c.stacks.readRound(c.reader(), c.more)
	c.copies = append(c.copies, slices.DeleteFunc(c.more, func(m snapshot.Copy) bool { return m.Bytes == nil })...)
}
