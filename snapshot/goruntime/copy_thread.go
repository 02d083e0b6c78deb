// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/snapshot"
)

// ThreadCopier repeatedly copies the memory that describes a runtime's threads, for each
// thread while that thread is stopped: its own data changes only while it runs.
type ThreadCopier struct {
	runtime *Runtime
	memory  cfi.Memory
	threads map[uint64]*copiedThread // by ID
	copies  []snapshot.Copy
	buffer  []byte // copies are taken from it
	used    int
	round   []snapshot.Copy
	left    []snapshot.Copy
	full    bool // a copy of the current thread exceeded the limit

	unknown unknownThreads
}

// copiedThread is a thread as of its last copy.
type copiedThread struct {
	Thread
	stacks [3][2]uint64 // allocated by the runtime for it and its goroutine
}

// unknownThreads contains the threads that the runtime does not know, to avoid searching for
// them each time: threads of C code, and the runtime's own before they store their ID.
type unknownThreads struct {
	seen  map[uint64]int // the round in which an ID was last requested
	round int
	next  int // the round of the next search
	wait  int // number of rounds until the search after that
	first uint64
}

const (
	// maxThreadCopies bounds the size of the copies of all threads, in bytes.
	maxThreadCopies = 16 << 20

	// maxWait bounds the rounds between searches for unknown threads.
	maxWait = 64
)

// ErrTooMuch means that a runtime's data of all threads exceeds the limit.
var ErrTooMuch = fmt.Errorf("the data of Go's runtime about all threads exceeds %d MiB", maxThreadCopies>>20)

// ThreadCopier returns a ThreadCopier, which reads memory that may change meanwhile.
func (r *Runtime) ThreadCopier(mem cfi.Memory) *ThreadCopier {
	return &ThreadCopier{runtime: r, memory: mem, unknown: unknownThreads{seen: make(map[uint64]int)}}
}

// Begin drops the copies, and looks for the threads with these IDs that are not yet known.
// The IDs are those in the threads' own PID namespace; 0 means no thread. It allocates the
// memory that Copy probably needs, because no thread is stopped yet.
func (c *ThreadCopier) Begin(ids []uint64) {
	if n := max(min(c.used+c.used/4, maxThreadCopies), len(ids)*touchedThread); c.used > len(c.buffer) || c.buffer == nil {
		c.buffer = make([]byte, n)
		touch(c.buffer)
	}
	c.used, c.copies = 0, c.copies[:0]
	if c.isWanted(ids) {
		c.find()
	}
}

// isWanted reports whether to search for threads. It repeats the search for unknown threads
// when the runtime has made another one, and from time to time: the runtime's structure of a
// thread can be older than the ID in it, because a new thread stores its ID later, and a C
// thread that calls Go gets a structure that was kept for it.
func (c *ThreadCopier) isWanted(ids []uint64) bool {
	v := &c.unknown
	v.round++
	missing, added := 0, false
	for _, id := range ids {
		if id == 0 || c.threads[id] != nil {
			continue
		}
		missing++
		added = added || v.seen[id] == 0
		v.seen[id] = v.round
	}
	if len(v.seen) > 2*missing+maxWait {
		for id, round := range v.seen {
			if round != v.round {
				delete(v.seen, id)
			}
		}
	}
	if missing == 0 {
		return false
	}
	first := c.first()
	switch {
	case added || first != v.first || c.threads == nil:
		v.wait = 1
	case v.round < v.next:
		return false
	default:
		v.wait = min(2*v.wait, maxWait)
	}
	v.first, v.next = first, v.round+v.wait
	return true
}

// first returns the word that changes when the runtime makes a thread: the beginning of
// its list, or if that is unknown a goroutine.
func (c *ThreadCopier) first() uint64 {
	var word [pointerSize]byte
	at := c.runtime.threads
	if at == 0 {
		at = c.runtime.length
	}
	if c.memory.ReadMemory(word[:], at) != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(word[:])
}

func (c *ThreadCopier) find() {
	var goroutines []uint64
	if c.runtime.threads == 0 {
		goroutines, _ = c.runtime.List(c.memory)
		goroutines = goroutines[:min(len(goroutines), maxCopiedList)]
	}
	before := c.threads
	c.threads = make(map[uint64]*copiedThread)
	for _, t := range c.runtime.Threads(c.memory, goroutines) {
		if t.ID == 0 {
			continue
		}
		known := before[t.ID]
		if known == nil {
			known = new(copiedThread)
		}
		known.Thread = t
		c.threads[t.ID] = known
	}
}

// Expect returns the probable end of the stack that contains the stack pointer of a thread,
// from the last copy of the thread. Copy reports whether it was right.
func (c *ThreadCopier) Expect(id, sp uint64) (end uint64, ok bool) {
	if t := c.threads[id]; t != nil {
		for _, s := range t.stacks {
			if s[0] <= sp && sp < s[1] {
				return s[1], true
			}
		}
	}
	return 0, false
}

// Copy copies the runtime's data of the stopped thread with an ID and stack pointer. If the
// thread has left the stack of its goroutine or of C code, Copy copies that stack too. Read
// fills the bytes of copies, and sets those that cannot be read to nil. Copy returns the end
// of the thread's current stack, and reports whether the runtime has allocated that stack.
// The copies, in no order, are valid until the next Begin. If the error wraps ErrTooMuch, the
// copies made before are returned.
func (c *ThreadCopier) Copy(id, sp uint64, read func([]snapshot.Copy)) (copies []snapshot.Copy, end uint64, ok bool, err error) {
	t := c.threads[id]
	if t == nil {
		return nil, 0, false, nil
	}
	start, l := len(c.copies), c.runtime.Layout
	c.full = false
	round := c.begin(c.round[:0], t.Address, l.threadSize())
	if len(round) == 0 {
		return nil, 0, false, ErrTooMuch
	}
	round = c.begin(round, t.System, l.size())
	round = c.begin(round, t.Signal, l.size())
	own := len(round)
	round = c.begin(round, t.Current, l.size()) // of its last copy
	read(round)
	c.round = round
	if round[0].Bytes == nil {
		return nil, 0, false, nil
	}
	now := l.decodeThread(round[0].Bytes, t.Address)
	if now.ID != id {
		delete(c.threads, id) // the structure is another thread's now
		return nil, 0, false, nil
	}
	if now.Current != t.Current {
		c.left = c.begin(c.left[:0], now.Current, l.size())
		read(c.left)
		round = append(round[:own], c.left...)
		c.round = round
	}
	t.Thread, t.stacks = now, [3][2]uint64{}
	left := c.left[:0]
	for i, copied := range round[1:] {
		if copied.Bytes == nil {
			continue
		}
		g, err := l.decode(copied.Bytes, copied.Address)
		if err != nil {
			continue
		}
		of := allocated(&g)
		if of {
			t.stacks[min(i, len(t.stacks)-1)] = [2]uint64{g.StackLow, g.StackHigh}
		}
		switch {
		case g.StackLow <= sp && sp < g.StackHigh:
			if of {
				end, ok = g.StackHigh, true
			}
		case i+1 >= own || g.Address == t.System && !of:
			// The part of g0's stack from which C code has called Go.
			if low, n := g.left(maxCopiedStack); n > 0 {
				left = c.begin(left, low, n)
			}
		}
	}
	c.left = left
	if len(left) > 0 {
		read(left)
	}
	for _, list := range [][]snapshot.Copy{round, left} {
		for _, copied := range list {
			if copied.Bytes != nil {
				c.copies = append(c.copies, copied)
			}
		}
	}
	if c.full {
		err = ErrTooMuch
	}
	return c.copies[start:len(c.copies):len(c.copies)], end, ok, err
}

// begin adds a copy to a round, if it fits the buffer.
func (c *ThreadCopier) begin(round []snapshot.Copy, address uint64, size int) []snapshot.Copy {
	if address == 0 || size <= 0 {
		return round
	}
	if size > maxThreadCopies-c.used {
		c.full = true
		return round
	}
	var b []byte
	if c.used += size; c.used <= len(c.buffer) {
		b = c.buffer[c.used-size : c.used : c.used]
	} else {
		b = make([]byte, size)
	}
	return append(round, snapshot.Copy{Address: address, Bytes: b})
}
