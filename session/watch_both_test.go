// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// One access hits all watchpoints on its memory. The values are updated even if a condition is
// false.
func TestWatchTogether(t *testing.T) {
	store := newFunction(t, "store")
	_, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	s := newSession(t, store)
	watch := func(size int, access Access, o *BreakpointOptions) *Watchpoint {
		w, err := s.Watch(address, size, access, o)
		if err != nil {
			t.Skip(err)
		}
		return w
	}
	first := watch(8, Change, nil)
	second := watch(8, Change, &BreakpointOptions{Condition: func(f *Frame) (bool, error) {
		var b [8]byte
		err := s.ReadMemory(b[:], address)
		return b[0] > 2, err
	}})
	half := watch(4, Write, nil)
	expect := func(w *Watchpoint, hits int, was, is uint64) {
		t.Helper()
		old, now := w.Values()
		var o, n [8]byte
		copy(o[:], old)
		copy(n[:], now)
		if w.Hits() != hits || binary.LittleEndian.Uint64(o[:]) != was || binary.LittleEndian.Uint64(n[:]) != is {
			t.Errorf("watchpoint %d: %d hits, %x, %x; want %d, %d, %d", w.ID, w.Hits(), old, now, hits, was, is)
		}
	}
	store1 := func(value uint64, reason Reason) *Stop {
		t.Helper()
		stop, err := s.Call(start(store), address, value)
		check(t, stop, err, reason)
		if reason != Returned {
			end, err := s.Continue()
			check(t, end, err, Returned)
		}
		return stop
	}
	if stop := store1(2, AtWatchpoint); stop.Watchpoint != first || !slices.Equal(stop.Watchpoints, []*Watchpoint{first, half}) {
		t.Errorf("%v", stop.Watchpoints)
	}
	expect(first, 1, 0, 2)
	expect(second, 0, 0, 2)
	expect(half, 1, 0, 2)
	if stop := store1(3, AtWatchpoint); !slices.Equal(stop.Watchpoints, []*Watchpoint{first, second, half}) {
		t.Errorf("%v", stop.Watchpoints)
	}
	expect(first, 2, 2, 3)
	expect(second, 1, 2, 3)
	expect(half, 2, 2, 3)
	if err := s.Remove(first.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(half.ID); err != nil {
		t.Fatal(err)
	}
	if stop := store1(4, AtWatchpoint); stop.Watchpoint != second {
		t.Errorf("%v", stop.Watchpoint)
	}
	expect(second, 2, 3, 4)
}
