// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/clewdev/clew/snapshot"
)

// counted is memory that counts the walks of the runtime's list of threads.
type counted struct {
	bytesAt
	at    uint64 // of a thread
	walks int
}

func (m *counted) ReadMemory(p []byte, addr uint64) error {
	if addr == m.at {
		m.walks++
	}
	return m.bytesAt.ReadMemory(p, addr)
}

func (m *counted) put(at, v uint64) { binary.LittleEndian.PutUint64(m.data[at-m.start:], v) }

// read fills copies from memory.
func (m *counted) read(round []snapshot.Copy) {
	for i := range round {
		if m.bytesAt.ReadMemory(round[i].Bytes, round[i].Address) != nil {
			round[i].Bytes = nil
		}
	}
}

// Threads that the runtime does not know are not searched at each sample: only when its
// list has grown, and at growing intervals, because it can learn of one later.
func TestUnknownThreads(t *testing.T) {
	r, memory := made("go1.26")
	const knownID, foreign, late = 4711, 4712, 4713
	m := &counted{bytesAt: memory, at: base + testM}
	c := r.ThreadCopier(m)
	walks := func(ids ...uint64) int {
		before := m.walks
		c.Begin(ids)
		return m.walks - before
	}
	if n := walks(knownID); n != 1 || c.threads[knownID] == nil {
		t.Fatalf("%d walks at first, %v", n, c.threads)
	}
	for range 100 {
		if n := walks(0, knownID); n != 0 {
			t.Fatal("a thread without an ID is looked for")
		}
	}
	total := 0
	const rounds = 1000
	for range rounds {
		total += walks(knownID, foreign)
	}
	if total < 2 || total > 7+rounds/maxWait {
		t.Errorf("a thread of C code is looked for %d times in %d samples", total, rounds)
	}
	if n := walks(knownID, foreign, late); n != 1 {
		t.Errorf("%d walks for a new thread", n)
	}
	// The thread stores its ID a little later, without a change of the list.
	l := r.Layout
	m.put(base+testM+uint64(l.Thread), late)
	found := 0
	for ; c.threads[late] == nil && found < 10; found++ {
		walks(knownID, foreign, late)
	}
	if c.threads[late] == nil {
		t.Error("a thread that stores its ID later is not found")
	}
	m.put(base+testM+uint64(l.Thread), knownID)
	for range rounds {
		walks(foreign)
	}
	// Another thread at the list's beginning; the previous one is the next.
	const second = 0xc00
	copy(m.data[second:], m.data[testM:testM+0x380])
	m.put(base+second+uint64(l.Thread), foreign)
	m.put(base+second+uint64(l.Next), base+testM)
	m.put(base+16, base+second)
	if n := walks(foreign); n != 1 || c.threads[foreign] == nil {
		t.Errorf("the list has grown: %d walks, %v", n, c.threads[foreign])
	}
	// Short-lived threads are not kept.
	for id := uint64(10000); id < 20000; id++ {
		walks(id)
	}
	if n := len(c.unknown.seen); n > 2*maxWait {
		t.Errorf("%d threads that are gone are kept", n)
	}
}

// Each thread has the copies that were made while it was stopped, even if both claim to
// run the same goroutine.
func TestCopiesOfEachThread(t *testing.T) {
	r, memory := made("go1.26")
	l := r.Layout
	m := &counted{bytesAt: memory}
	const second = 0xc00
	copy(m.data[second:], m.data[testM:testM+0x380])
	m.put(base+second+uint64(l.Thread), 4712)
	m.put(base+second+uint64(l.Next), base+testM)
	m.put(base+16, base+second)
	m.put(base+testM, 0)
	m.put(base+second, 0)
	c := r.ThreadCopier(m)
	c.Begin([]uint64{4711, 4712})
	if _, ok := c.Expect(4711, 0xcf00); ok {
		t.Error("the end of a stack is known before anything was copied")
	}
	first, end, ok, err := c.Copy(4711, 0xcf00, m.read)
	if err != nil || !ok || end != 0xd000 || len(first) != 2 {
		t.Fatalf("%d copies, end %#x %v, %v", len(first), end, ok, err)
	}
	m.put(base+testG+8, 0xe000) // the stack is another one when the second is copied
	m.put(base+testG, 0xc000+0x1000)
	other, end, ok, err := c.Copy(4712, 0xdf00, m.read)
	if err != nil || !ok || end != 0xe000 || len(other) != 2 {
		t.Fatalf("%d copies, end %#x %v, %v", len(other), end, ok, err)
	}
	at := func(copies []snapshot.Copy) uint64 {
		for _, x := range copies {
			if x.Address == base+testG {
				return binary.LittleEndian.Uint64(x.Bytes[8:])
			}
		}
		return 0
	}
	if a, b := at(first), at(other); a != 0xd000 || b != 0xe000 {
		t.Errorf("the goroutine's stack ends at %#x for one and at %#x for the other", a, b)
	}
	for id, want := range map[uint64]uint64{4711: 0xd000, 4712: 0xe000} {
		if end, ok := c.Expect(id, want-8); !ok || end != want {
			t.Errorf("thread %d: the stack's end is expected at %#x, %v", id, end, ok)
		}
	}
	if _, ok := c.Expect(4711, 0xdf00); ok {
		t.Error("one thread's stack is taken for the other's")
	}
}

// The copies of all threads together are bounded.
func TestThreadCopiesAreBounded(t *testing.T) {
	r, memory := made("go1.26")
	m := &counted{bytesAt: memory}
	m.put(base+testM, 0)
	c := r.ThreadCopier(m)
	for range 2 {
		c.Begin([]uint64{4711})
		total, refused := 0, 0
		for range maxThreadCopies/r.Layout.size() + 10 {
			copies, _, _, err := c.Copy(4711, 0xcf00, m.read)
			switch {
			case errors.Is(err, ErrTooMuch):
				refused++
			case err != nil || refused > 0:
				t.Fatalf("%v after %d that were refused", err, refused)
			}
			for _, x := range copies {
				total += len(x.Bytes)
			}
		}
		if total > maxThreadCopies || refused == 0 {
			t.Errorf("%d bytes were copied, and %d times none", total, refused)
		}
	}
	if len(c.buffer) > maxThreadCopies {
		t.Errorf("%d bytes are kept for copies", len(c.buffer))
	}
}
