// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import "github.com/clewdev/clew/cfi"

// ThreadCopier copies, again and again, what tells of a runtime's threads, of each while
// it stands still by itself: what is the thread's own changes only as it runs.
type ThreadCopier struct {
	runtime *Runtime
	memory  cfi.Memory
	threads map[uint64]Thread // by ID
	copies  []Copy
	room    []byte // that copies are taken from
	used    int
	round   []Copy
}

// ThreadCopier returns a ThreadCopier, which reads memory that changes as it does.
func (r *Runtime) ThreadCopier(mem cfi.Memory) *ThreadCopier {
	return &ThreadCopier{runtime: r, memory: mem, room: make([]byte, touchedThread)}
}

// Begin forgets what was copied, and finds the threads that are not known yet of those
// with these IDs, which are those that they have for themselves.
func (c *ThreadCopier) Begin(ids []uint64) {
	if c.used > len(c.room) {
		c.room = make([]byte, c.used+c.used/4)
	}
	c.used, c.copies = 0, c.copies[:0]
	for _, id := range ids {
		if _, known := c.threads[id]; !known {
			c.find()
			return
		}
	}
}

func (c *ThreadCopier) find() {
	var goroutines []uint64
	if c.runtime.threads == 0 {
		goroutines, _ = c.runtime.List(c.memory)
		goroutines = goroutines[:min(len(goroutines), maxCopiedList)]
	}
	c.threads = make(map[uint64]Thread)
	for _, t := range c.runtime.Threads(c.memory, goroutines) {
		c.threads[t.ID] = t
	}
}

// Copy copies what the runtime knows of the thread with an ID that stands still with this
// stack pointer, and the stacks of its goroutine and of C code if it has left those. Read
// fills the bytes of copies; where one cannot be read it sets them to nil. Copy returns
// where the stack ends on which the thread is, and reports whether that is one which the
// runtime has allocated.
func (c *ThreadCopier) Copy(id, sp uint64, read func([]Copy)) (end uint64, ok bool) {
	t, known := c.threads[id]
	if !known {
		return 0, false
	}
	l := c.runtime.Layout
	round := c.begin(c.round[:0], t.Address, l.threadSize())
	round = c.begin(round, t.System, l.size())
	round = c.begin(round, t.Signal, l.size())
	own := len(round)
	round = c.begin(round, t.Current, l.size()) // that it ran when it was last seen
	c.round = round
	read(round)
	if round[0].Bytes == nil {
		return 0, false
	}
	now := l.decodeThread(round[0].Bytes, t.Address)
	if now.ID != id {
		delete(c.threads, id) // the structure is another thread's now
		return 0, false
	}
	if now.Current != t.Current {
		c.threads[id] = now
		next := c.begin(nil, now.Current, l.size())
		read(next)
		round = append(round[:own], next...)
	}
	var left []Copy
	for i, copied := range round[1:] {
		if copied.Bytes == nil {
			continue
		}
		g, err := l.decode(copied.Bytes, copied.Address)
		switch {
		case err != nil:
		case g.StackLow <= sp && sp < g.StackHigh:
			if allocated(&g) {
				end, ok = g.StackHigh, true
			}
		case i+1 >= own || g.Address == t.System && !allocated(&g):
			// Of g0 that is where C code has called Go.
			if low, n := g.left(maxCopiedStack); n > 0 {
				left = c.begin(left, low, n)
			}
		}
	}
	read(left)
	for _, copied := range append(round, left...) {
		if copied.Bytes != nil {
			c.copies = append(c.copies, copied)
		}
	}
	return end, ok
}

// begin appends a copy to be made to a round.
func (c *ThreadCopier) begin(round []Copy, address uint64, size int) []Copy {
	if address == 0 || size <= 0 {
		return round
	}
	var b []byte
	if c.used += size; c.used <= len(c.room) {
		b = c.room[c.used-size : c.used : c.used]
	} else {
		b = make([]byte, size)
	}
	return append(round, Copy{address, b})
}

// Copies returns what was copied since Begin was called last. The slice and its bytes
// are valid until it is again.
func (c *ThreadCopier) Copies() []Copy { return c.copies }
