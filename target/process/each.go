// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/target/goruntime"
)

const (
	// ahead is how many threads may be about to stop at once: enough that they do so
	// while others are copied, and no more, since each waits for those before it.
	ahead = 8

	// idle is after which time in which none has stopped more are asked to: those wait
	// for a processor, and may all do so at the same time.
	idle = 100 * time.Microsecond
)

// stopEach stops each thread for itself: it is released as soon as its registers and its
// stack are copied, whatever the others do.
func (c *capture) stopEach() {
	c.started = time.Now()
	last := c.started // when a thread stopped, or more were asked to
	first, asked, allowed := 0, 0, ahead
	for attempt := 0; ; attempt++ {
		for ; asked < min(allowed, len(c.tracees)); asked++ {
			t := &c.tracees[asked]
			t.ran = time.Now()
			ptrace(unix.PTRACE_INTERRUPT, t.tid, 0, 0)
		}
		for first < asked && c.tracees[first].state != running {
			first++
		}
		if first == len(c.tracees) {
			return
		}
		waiting, done := c.sweepEach(first, asked)
		now := time.Now()
		switch {
		case done > 0:
			last, attempt = now, 0
			allowed += done
			continue
		case now.Sub(last) < idle:
		case asked < len(c.tracees):
			last, attempt = now, 0
			allowed += ahead
		case waiting > 0 && now.Sub(last) >= c.patience && c.giveUp(now.Sub(last)) == 0:
			return
		}
		pause(attempt)
	}
}

// sweepEach releases those of some threads that have stopped, and returns how many have
// not and how many are done with.
func (c *capture) sweepEach(first, end int) (waiting, done int) {
	var info waitInfo
	for i := first; i < end; i++ {
		t := &c.tracees[i]
		if t.state != running {
			continue
		}
		now := time.Now()
		if !c.look(t, &info) {
			t.ran = now
			waiting++
			continue
		}
		done++
		if t.state != stopped {
			continue
		}
		c.copyOne(i)
		c.release(t)
		t.stood = time.Since(t.ran)
	}
	return waiting, done
}

// copyOne copies the stack of the i-th thread, which stands still, and what a Go runtime
// knows of that thread.
func (c *capture) copyOne(i int) {
	t, s := &c.tracees[i], &c.stacks
	if t.err != nil || c.machine.StackPointer < 0 {
		return
	}
	sp, _ := t.registers.Get(uint64(c.machine.StackPointer))
	t.start, t.end, t.ownStack = s.extent(sp)
	read := func(round []goruntime.Copy) { s.readRound(t.tid, round) }
	for _, r := range c.runtimes {
		if end, ok := r.Copy(c.inner(t.tid), sp, read); ok && !t.ownStack {
			t.end, t.ownStack = min(t.end, end), true
		}
	}
	n := uint64(len(c.tracees))
	limit := min(s.limit, max(copyBudget/n, minimum))
	if !t.ownStack {
		limit = min(limit, max(sharedBudget/n, sharedMinimum))
	}
	if t.end = min(t.end, saturate(t.start, limit)); t.end <= t.start {
		return
	}
	t.stack = s.take(int(t.end - t.start))
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
