// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
)

const (
	// prompt is the time in which most threads that have a processor stop. This thread keeps
	// its own processor for that time: after a yield on a busy machine it may run again long
	// after the other thread has stopped.
	prompt = 30 * time.Microsecond

	// idle is after which time the next thread is asked to stop though one has not: that
	// waits for a processor, as others may, or for something that is not to be interrupted.
	idle = 100 * time.Microsecond
)

// each is the state of threads that are stopped each for itself.
type each struct {
	next    int   // of the tracees, to be asked to stop
	waiting []int // tracees that were asked, in that order

	// The thread that is being copied, and whether its stack is to be read with what is
	// read first.
	reading *tracee
	pending bool
	read    func([]snapshot.Copy)
	round   []snapshot.Copy
}

// maxRound exceeds the number of pieces that are read of one thread at once.
const maxRound = 16

// prepareEach takes what stopEach needs.
func (c *capture) prepareEach() {
	c.each = each{waiting: make([]int, 0, len(c.tracees)), read: c.readOne, round: make([]snapshot.Copy, 0, maxRound)}
	c.stacks.prepareLists(maxRound)
}

// stopEach stops one thread after the other: each is attached to just before it is asked
// to stop, as any signal stops it then, and is released as soon as its registers and its
// stack are copied.
func (c *capture) stopEach() {
	e := &c.each
	last := time.Now() // when a thread stopped, or was asked to
	for attempt := 0; ; attempt++ {
		if len(e.waiting) == 0 || time.Since(last) >= idle {
			if c.askNext() {
				last, attempt = time.Now(), 0
			} else if len(e.waiting) == 0 {
				return
			}
		}
		if c.sweepEach() {
			last, attempt = time.Now(), 0
			continue
		}
		waited := time.Since(last)
		if waited < prompt {
			attempt = 0
			continue
		}
		if e.next == len(c.tracees) && waited >= c.patience && c.giveUp(waited) == 0 {
			return
		}
		pause(attempt)
	}
}

// askNext asks the next thread to stop that can be attached to, and reports whether there
// is one.
func (c *capture) askNext() bool {
	e := &c.each
	for e.next < len(c.tracees) {
		i := e.next
		e.next++
		if c.ask(&c.tracees[i]) {
			e.waiting = append(e.waiting, i)
			return true
		}
	}
	return false
}

// ask attaches to a thread and asks it to stop, and reports whether it will, or end.
func (c *capture) ask(t *tracee) bool {
	// Since the threads were listed the ID can have become one of another process.
	if t.state == running && unix.Tgkill(c.pid, t.tid, 0) == unix.ESRCH {
		t.state = gone
	}
	t.ran = time.Now()
	if c.seize(t); t.state != running {
		return false
	}
	ptrace(unix.PTRACE_INTERRUPT, t.tid, 0, 0)
	return true
}

// sweepEach copies and releases the first of the threads that have stopped, and reports
// whether one has.
func (c *capture) sweepEach() (done bool) {
	var info waitInfo
	e := &c.each
	for k, i := range e.waiting {
		t := &c.tracees[i]
		now := time.Now()
		if t.state == running && !c.look(t, &info) {
			t.ran = now
			continue
		}
		if t.state == stopped {
			c.copyOne(i)
			c.release(t)
			t.stood = time.Since(t.ran)
		}
		e.waiting = append(e.waiting[:k], e.waiting[k+1:]...)
		return true
	}
	return false
}

// copyOne copies the stack of the i-th thread, which stands still, and what a Go runtime
// knows of that thread: with one call of the kernel where the stack's end is known or
// where it was when the thread was copied last.
func (c *capture) copyOne(i int) {
	t, e := &c.tracees[i], &c.each
	if t.err != nil || c.machine.StackPointer < 0 {
		return
	}
	sp, _ := t.registers.Get(uint64(c.machine.StackPointer))
	start, end, own := c.stacks.extent(sp)
	id := c.inner(t.tid)
	t.start, t.end, t.ownStack = start, end, own
	var expected uint64
	if !own {
		if expected = c.expect(id, sp); expected != 0 {
			t.end, t.ownStack = min(end, expected), true
		}
	}
	e.reading, e.pending = t, t.ownStack && c.takeBuffer(t)
	var last uint64
	for _, r := range c.runtimes {
		copies, l, ok, err := r.Copy(id, sp, e.read)
		if ok {
			last = l
		}
		if t.copies == nil {
			t.copies = copies
		} else {
			t.copies = append(t.copies, copies...)
		}
		if err != nil && t.err == nil {
			t.err = fmt.Errorf("thread %d: %w", t.tid, err)
		}
	}
	if !own && (last != expected || last == 0) {
		t.end, t.ownStack, t.stack = end, last != 0, nil
		if last != 0 {
			t.end = min(end, last)
		}
		e.pending = c.takeBuffer(t)
	}
	if e.pending {
		c.readStack(i)
	}
}

// expect returns where the stack ends in which a stack pointer is, if it is one on which a
// Go runtime's thread was when it was copied last, and 0 if not.
func (c *capture) expect(id, sp uint64) uint64 {
	for _, r := range c.runtimes {
		if end, ok := r.Expect(id, sp); ok {
			return end
		}
	}
	return 0
}

// takeBuffer takes a buffer for the part of a thread's stack that is copied. It returns false if
// nothing is.
func (c *capture) takeBuffer(t *tracee) bool {
	s, n := &c.stacks, uint64(len(c.tracees))
	limit := min(s.limit, max(copyBudget/n, minimum))
	if !t.ownStack {
		limit = min(limit, max(sharedBudget/n, sharedMinimum))
	}
	if t.end = min(t.end, saturate(t.start, limit)); t.end <= t.start {
		return false
	}
	size := t.end - t.start
	if size > s.left {
		t.err = s.full(t)
		return false
	}
	s.left -= size
	t.stack = s.take(int(size))
	return true
}

// readOne fills copies with the memory of the thread that is being copied, and with them
// its stack if that is to be read.
func (c *capture) readOne(round []snapshot.Copy) {
	e := &c.each
	t := e.reading
	if !e.pending {
		c.stacks.readRound(t.tid, round)
		return
	}
	e.round = append(append(e.round[:0], round...), snapshot.Copy{Address: t.start, Bytes: t.stack})
	c.stacks.readRound(t.tid, e.round)
	copy(round, e.round)
	e.pending = e.round[len(round)].Bytes == nil
}

// readStack reads the stack of the i-th thread, as much of it as can be.
func (c *capture) readStack(i int) {
	t, s := &c.tracees[i], &c.stacks
	v := unix.Iovec{Base: &t.stack[0]}
	v.SetLen(len(t.stack))
	s.local = append(s.local[:0], v)
	s.remote = append(s.remote[:0], unix.RemoteIovec{Base: uintptr(t.start), Len: len(t.stack)})
	got, errno := s.read(t.tid)
	c.account(i, i+1, got, errno)
}

// inner returns the ID that a thread has for itself, in the PID namespace of its process.
func (c *capture) inner(tid int) uint64 {
	if c.ids == nil {
		return uint64(tid)
	}
	return c.ids[tid]
}
