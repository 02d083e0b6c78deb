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
	// prompt is the time in which most running threads stop. The tracer spins that long,
	// because after a yield on a busy machine it could run again much later.
	prompt = 30 * time.Microsecond

	// idle is how long to wait for a thread before the next one is asked to stop. The former
	// waits for a processor, or for something uninterruptible.
	idle = 100 * time.Microsecond
)

// each is the state of stopping threads one by one.
type each struct {
	next    int   // index of the next tracee to ask to stop
	waiting []int // indexes of the tracees that were asked, in that order

	reading *tracee // the thread to copy
	pending bool    // read its stack in the next round
	read    func([]snapshot.Copy)
	round   []snapshot.Copy
}

// maxRound exceeds the number of pieces that are read of one thread at once.
const maxRound = 16

// prepareEach allocates the memory that stopEach needs.
func (c *capture) prepareEach() {
	c.each = each{waiting: make([]int, 0, len(c.tracees)), read: c.readOne, round: make([]snapshot.Copy, 0, maxRound)}
	c.stacks.prepareLists(maxRound)
}

// stopEach stops the threads one by one. It attaches to a thread just before it asks it to
// stop, because any signal stops an attached thread. It releases the thread once its
// registers and stack are copied.
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

// askNext asks the next thread to stop, and returns false if there is none.
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

// ask attaches to a thread and asks it to stop. It returns false if that is not possible.
func (c *capture) ask(t *tracee) bool {
	// The ID can have passed to another process since the threads were listed.
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

// sweepEach copies and releases the first of the asked threads that has stopped or ended. It
// returns false if there is none.
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

// copyOne copies the stack of the i-th thread, which stands still, and a Go runtime's data
// about it. It needs one system call if the end of the stack is known or the same as at the
// thread's last copy.
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
	c.copyIncluded(t)
}

// expect returns the end of the stack that contains a stack pointer, if the thread was on
// this stack of a Go runtime at its last copy, and 0 if not.
func (c *capture) expect(id, sp uint64) uint64 {
	for _, r := range c.runtimes {
		if end, ok := r.Expect(id, sp); ok {
			return end
		}
	}
	return 0
}

// takeBuffer sets t.stack to a buffer for the copy. It returns false if nothing is to be
// copied.
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

// readOne fills copies with the memory of the current thread, and reads its stack in the same
// system call if that is pending.
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

// readStack reads as much as possible of the stack of the i-th thread.
func (c *capture) readStack(i int) {
	t, s := &c.tracees[i], &c.stacks
	s.local, s.remote = s.local[:0], s.remote[:0]
	s.add(t.start, t.stack)
	got, errno := s.read(t.tid)
	c.account(i, i+1, got, errno)
}

// inner returns the ID of a thread in the PID namespace of its process.
func (c *capture) inner(tid int) uint64 {
	if c.ids == nil {
		return uint64(tid)
	}
	return c.ids[tid]
}
