// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package process

import (
	"bytes"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
)

func TestExtent(t *testing.T) {
	s := &stackCopier{mappings: []snapshot.Mapping{
		{Start: 0x10000, End: 0x11000}, // guard
		{Start: 0x11000, End: 0x20000, Readable: true, Writable: true},
		{Start: 0x30000, End: 0x40000, Readable: true, Writable: true},
		{Start: 0x50000, End: 0x650000}, // a reserve
		{Start: 0x650000, End: 0x660000, Readable: true, Writable: true},
		{Start: 0x7ff000, End: 0x800000, Readable: true, Writable: true, Path: "[stack]"},
	}}
	for _, test := range []struct {
		name           string
		sp, start, end uint64
		own            bool
	}{
		{"above a guard", 0x1f008, 0x1ef80, 0x20000, true},
		{"at the mapping's start", 0x11008, 0x11000, 0x20000, true},
		{"at the stack's very end, an empty stack", 0x20000, 0x1ff80, 0x30000, false},
		{"no guard", 0x38000, 0x37f80, 0x40000, false},
		{"a reserve below", 0x651000, 0x650f80, 0x660000, false},
		{"first thread's", 0x7ff800, 0x7ff780, 0x800000, true},
		{"first thread's, grown", 0x7f0000, 0x7eff80, 0x800000, true},
		{"before all", 8, 0, 0x10000, false},
		{"after all", 0x900000, 0x8fff80, ^uint64(0), false},
		{"end of the address space", ^uint64(0), ^uint64(0) - 0x8f, ^uint64(0), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			start, end, own := s.extent(test.sp)
			if start != test.start || end != test.end || own != test.own {
				t.Errorf("%#x-%#x, %t, expected %#x-%#x, %t", start, end, own, test.start, test.end, test.own)
			}
		})
	}
}

// A partial read is reported for the thread where it ended.
func TestAccount(t *testing.T) {
	c := &capture{}
	set := func() {
		c.tracees = make([]tracee, 4)
		for i, n := range []int{16, 0, 32, 8} {
			c.tracees[i] = tracee{tid: i, stack: bytes.Repeat([]byte{byte(i)}, n)}
		}
	}
	for _, test := range []struct {
		n, next int
		errno   unix.Errno
		lengths string
		failed  int // thread with an error, -1 for none
	}{
		{56, 4, 0, "[16 0 32 8]", -1},
		{48, 4, 0, "[16 0 32 0]", 3},
		{40, 3, 0, "[16 0 24 8]", -1},
		{16, 3, 0, "[16 0 0 8]", 2},
		{5, 1, 0, "[5 0 32 8]", -1},
		{0, 1, unix.EFAULT, "[0 0 32 8]", 0},
	} {
		set()
		next := c.account(0, 4, test.n, test.errno)
		var lengths []int
		failed := -1
		for i := range c.tracees {
			lengths = append(lengths, len(c.tracees[i].stack))
			if c.tracees[i].err != nil {
				failed = i
			}
		}
		if got := fmt.Sprint(lengths); next != test.next || got != test.lengths || failed != test.failed {
			t.Errorf("%d bytes: next %d, %s, failed %d, expected %d, %s, %d", test.n, next, got, failed, test.next, test.lengths, test.failed)
		}
	}
}

// A Go program: the stacks of its threads are in the heap.
func TestGoTarget(t *testing.T) {
	c := startCommand(t, asRole(self(t), "goroutines"))
	s, err := Snapshot(c.pid, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Threads) < 3 {
		t.Errorf("%d threads", len(s.Threads))
	}
	total := 0
	for i := range s.Threads {
		checkThread(t, s, &s.Threads[i])
		total += len(s.Threads[i].Stack)
	}
	if total > defaultStackLimit+max(sharedBudget, len(s.Threads)*sharedMinimum) {
		t.Errorf("%d bytes of stacks copied from %d threads", total, len(s.Threads))
	}
	if got := c.ask("x"); got != "runs" {
		t.Error(got)
	}
}

// StackLimit bounds each copy, and memory beyond it is read from the process.
func TestStackLimit(t *testing.T) {
	c := start(t, build(t, "threads"), "2")
	c.blocked(unix.SYS_READ)
	whole, err := Snapshot(c.pid, nil)
	if err != nil {
		t.Fatal(err)
	}
	short, err := Snapshot(c.pid, &Options{StackLimit: 256})
	if err != nil {
		t.Fatal(err)
	}
	th := &short.Threads[0]
	if len(th.Stack) != 256 {
		t.Fatalf("%d bytes copied", len(th.Stack))
	}
	memory := short.ThreadMemory(th)
	got := make([]byte, len(whole.Threads[0].Stack))
	if err := memory.ReadMemory(got, th.StackAddress); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, whole.Threads[0].Stack) {
		t.Error("the first thread's stack changed while it waited")
	}
	if addr, late := memory.Late(); !late || addr != th.StackAddress+256 {
		t.Errorf("late read at %#x, %t, expected %#x", addr, late, th.StackAddress+256)
	}
}
