// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package session

import (
	"encoding/binary"
	"errors"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// page returns zero memory, which is freed after the test.
func page(t testing.TB, access int) (p []byte, address uint64) {
	t.Helper()
	p, err := unix.Mmap(-1, 0, 4096, access, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(p) })
	return p, uint64(uintptr(unsafe.Pointer(&p[0])))
}

// Watchpoints stop after the instruction that has accessed any part of their memory, and only
// for their kind of access.
func TestWatchpoint(t *testing.T) {
	store, load := newFunction(t, "store"), newFunction(t, "load")
	after := start(store) + functionOf("store").at[1]
	for _, test := range []struct {
		name   string
		offset uint64
		size   int
		access Access
	}{
		{"all of it", 0, 8, Write},
		{"its low half", 0, 4, Write},
		{"its high half", 4, 4, Write},
		{"two bytes", 2, 2, Write},
		{"a byte", 5, 1, Write},
		{"its last byte", 7, 1, Change},
		{"reads too", 0, 8, ReadWrite},
		{"a change", 0, 8, Change},
	} {
		t.Run(test.name, func(t *testing.T) {
			memory, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
			s := newSession(t, store, load)
			w, err := s.Watch(address+test.offset, test.size, test.access, nil)
			if err != nil {
				t.Fatal(err)
			}
			const first, second = 0x0102030405060708, 0x1112131415161718
			expect := func(stop *Stop, err error, pc, was, is uint64) {
				t.Helper()
				check(t, stop, err, AtWatchpoint)
				var o, n [8]byte
				old, now := w.Values()
				copy(o[test.offset:], old)
				copy(n[test.offset:], now)
				var mask uint64 = 1<<(8*test.size-1)<<1 - 1
				mask <<= 8 * test.offset
				if stop.PC != pc || stop.Watchpoint != w || binary.LittleEndian.Uint64(o[:]) != was&mask || binary.LittleEndian.Uint64(n[:]) != is&mask {
					t.Fatalf("%v: %x, %x", stop, old, now)
				}
				stop, err = s.Continue()
				check(t, stop, err, Returned)
			}
			stop, err := s.Call(start(store), address, first)
			expect(stop, err, after, 0, first)
			// The same value again.
			stop, err = s.Call(start(store), address, first)
			if test.access == Change {
				check(t, stop, err, Returned)
			} else {
				expect(stop, err, after, first, first)
			}
			stop, err = s.Call(start(load), address)
			if test.access == ReadWrite {
				expect(stop, err, start(load)+functionOf("load").at[1], first, first)
			} else {
				check(t, stop, err, Returned)
			}
			// A step does the same.
			stop, err = s.CallWith(start(store), Arguments{Words: []uint64{address, second}, StopAtEntry: true})
			check(t, stop, err, AtEntry)
			stop, err = s.StepInstruction()
			expect(stop, err, after, first, second)
			if got := binary.LittleEndian.Uint64(memory); got != second {
				t.Errorf("%#x in memory", got)
			}
			// Next to it.
			stop, err = s.Call(start(store), address+8, first)
			check(t, stop, err, Returned)
			if err := s.Remove(w.ID); err != nil {
				t.Fatal(err)
			}
			stop, err = s.Call(start(store), address, first)
			check(t, stop, err, Returned)
		})
	}
}

// A fault of the instruction that a watchpoint has matched is the stop.
func TestWatchedFault(t *testing.T) {
	store := newFunction(t, "store")
	_, address := page(t, unix.PROT_READ)
	s := newSession(t, store)
	if _, err := s.Watch(address, 8, Write, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		stop, err := s.Call(start(store), address, 1)
		if check(t, stop, err, Signalled).Signal != (Signal{int(unix.SIGSEGV), 2, address}) || stop.PC != start(store) {
			t.Fatal(stop)
		}
		if _, err := s.Abort(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWatchpoints(t *testing.T) {
	store := newFunction(t, "store")
	_, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	s := newSession(t, store)
	var last *Watchpoint
	for n := uint64(0); ; n++ {
		w, err := s.Watch(address+8*n, 8, Write, nil)
		if errors.Is(err, ErrInUse) && n >= 4 {
			break
		}
		if err != nil || n > 16 {
			t.Fatalf("watchpoint %d: %v", n, err)
		}
		last = w
	}
	stop, err := s.Call(start(store), last.Address, 1)
	if check(t, stop, err, AtWatchpoint).Watchpoint != last {
		t.Fatal(stop)
	}
	// An instruction that has already run does not hit a new watchpoint.
	if err := s.Remove(last.ID); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Watch(last.Address, 8, Write, nil); err != nil {
		t.Fatal(err)
	}
	stop, err = s.Continue()
	check(t, stop, err, Returned)
	for _, test := range []struct {
		offset uint64
		size   int
	}{{1, 8}, {2, 4}, {1, 2}, {0, 3}, {0, 16}, {0, 0}} {
		if _, err := s.Watch(address+test.offset, test.size, Write, nil); !errors.Is(err, ErrAddress) {
			t.Errorf("%d bytes at offset %d: %v", test.size, test.offset, err)
		}
	}
}
