// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"encoding/binary"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// atomicAdd adds its second argument to the word that the first points to.
var atomicAdd = words(
	0xc85f7c02, // 0: ldxr x2, [x0]
	0x8b010042, // 4: add x2, x2, x1
	0xc8037c02, // 8: stxr w3, x2, [x0]
	0x35ffffa3, // 12: cbnz w3, 0
	0xaa0203e0, // 16: mov x0, x2
	ret64,
)

// compareAndSwap stores its third argument at the address in the first if the memory has the
// second, and returns the old value.
var compareAndSwap = words(
	0xc85ffc03, // 0: ldaxr x3, [x0]
	0xeb01007f, // 4: cmp x3, x1
	0x54000061, // 8: b.ne 20
	0xc804fc02, // 12: stlxr w4, x2, [x0]
	0x35ffff84, // 16: cbnz w4, 0
	0xaa0303e0, // 20: mov x0, x3
	ret64,
)

// A step executes an exclusive sequence as one instruction, by any of its exits.
func TestStepExclusive(t *testing.T) {
	add, swap := newCode(t, "add", atomicAdd.text), newCode(t, "swap", compareAndSwap.text)
	memory, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	for _, breakpoint := range []bool{false, true} {
		for _, test := range []struct {
			image  *Image
			words  []uint64
			end    uint64
			result uint64
			left   uint64
		}{
			{add, []uint64{address, 5}, 16, 12, 12},
			{swap, []uint64{address, 7, 9}, 20, 7, 9},
			{swap, []uint64{address, 8, 9}, 20, 7, 7},
		} {
			binary.LittleEndian.PutUint64(memory, 7)
			s := newSession(t, test.image)
			var stop *Stop
			var err error
			if breakpoint {
				if _, err := s.Break(start(test.image), nil); err != nil {
					t.Fatal(err)
				}
				stop, err = s.Call(start(test.image), test.words...)
				check(t, stop, err, AtBreakpoint)
			} else {
				stop, err = s.CallWith(start(test.image), Arguments{Words: test.words, StopAtEntry: true})
				check(t, stop, err, AtEntry)
			}
			stop, err = s.StepInstruction()
			if check(t, stop, err, SteppedInstruction).PC != start(test.image)+test.end || binary.LittleEndian.Uint64(memory) != test.left {
				t.Fatalf("%v, %d in memory", stop, memory[0])
			}
			stop, err = s.Continue()
			if check(t, stop, err, Returned).Result != test.result {
				t.Error(stop)
			}
		}
	}
}

// A breakpoint can only be at the beginning of a sequence. The sequence then ends, also with a
// hardware breakpoint.
func TestBreakExclusive(t *testing.T) {
	i := newCode(t, "add", atomicAdd.text)
	_, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	for _, hardware := range []bool{false, true} {
		s := newSession(t, i)
		b, err := s.Break(start(i), &BreakpointOptions{Hardware: hardware})
		if err != nil {
			t.Fatal(err)
		}
		for _, offset := range []uint64{4, 8, 12} {
			if _, err := s.Break(start(i)+offset, nil); !errors.Is(err, ErrAddress) {
				t.Errorf("offset %d: %v", offset, err)
			}
		}
		stop, err := s.Call(start(i), address, 1)
		if check(t, stop, err, AtBreakpoint).PC != start(i) {
			t.Fatal(stop)
		}
		stop, err = s.Continue()
		check(t, stop, err, Returned)
		if b.Hits() != 1 {
			t.Errorf("%d hits", b.Hits())
		}
		// A step from the sequence ends after it. A step to it ends there.
		stop, err = s.CallWith(start(i), Arguments{Words: []uint64{address, 1}, StopAtEntry: true})
		if err == nil && hardware {
			check(t, stop, err, AtEntry)
			stop, err = s.StepInstruction()
		}
		check(t, stop, err, AtBreakpoint)
		stop, err = s.StepInstruction()
		if check(t, stop, err, SteppedInstruction).PC != start(i)+16 {
			t.Fatal(stop)
		}
		if err := s.Close(); err != nil { // and its trap is gone
			t.Fatal(err)
		}
	}
}

// A watchpoint that matches in a sequence stops after it, once. (qemu before version 8 does not
// report a store exclusive alone.)
func TestWatchExclusive(t *testing.T) {
	i := newCode(t, "add", atomicAdd.text)
	memory, address := page(t, unix.PROT_READ|unix.PROT_WRITE)
	for _, breakpoint := range []bool{false, true} {
		s := newSession(t, i)
		if breakpoint {
			if _, err := s.Break(start(i), nil); err != nil {
				t.Fatal(err)
			}
		}
		w, err := s.Watch(address, 8, ReadWrite, nil)
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint64(memory, 3)
		stop, err := s.Call(start(i), address, 1)
		if breakpoint {
			check(t, stop, err, AtBreakpoint)
			stop, err = s.Continue()
		}
		if check(t, stop, err, AtWatchpoint).PC != start(i)+16 || memory[0] != 4 || w.Hits() != 1 {
			t.Fatalf("%v, %d in memory, %d hits", stop, memory[0], w.Hits())
		}
		stop, err = s.Continue()
		if check(t, stop, err, Returned).Result != 4 {
			t.Error(stop)
		}
	}
}
