// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import "unsafe"

// changed returns the first step from one on of which a slot holds another word
// than it did, and the number of steps where there is none.
func (t *Trail) changed(from int, w *Walker) int {
	first, slots := int(t.steps[from].slots), t.slots
	stack := &w.Stack
	at := first
	if t.scattered || t.steps[from].sp < stack.Address || t.high-stack.Address > uint64(len(stack.Bytes)) {
		for at < len(slots) && w.holds(&slots[at]) {
			at++
		}
	} else {
		at += sameSlots(slots[first:], stack)
	}
	if at == len(slots) {
		return len(t.steps)
	}
	// The step that the slot is of.
	low, high := from, len(t.steps)
	for high-low > 1 {
		if middle := (low + high) / 2; int(t.steps[middle].slots) <= at {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// sameSlots returns how many slots at the start hold what they did. All must lie
// in the stack.
func sameSlots(slots []slot, stack *Stack) int {
	// Read without bounds checks, which were made for all slots together: half
	// of the time of a walk that changes little is spent here.
	memory, base := unsafe.Pointer(unsafe.SliceData(stack.Bytes)), stack.Address
	differs := func(s *slot) uint64 { return word(memory, s.addr-base) ^ s.value }
	n := 0
	for ; n+4 <= len(slots); n += 4 {
		s := (*[4]slot)(slots[n:])
		if differs(&s[0])|differs(&s[1])|differs(&s[2])|differs(&s[3]) != 0 {
			break
		}
	}
	for n < len(slots) && differs(&slots[n]) == 0 {
		n++
	}
	return n
}

// holds reports whether a slot holds what it did.
func (w *Walker) holds(s *slot) bool {
	v, err := w.word8(s.addr)
	return err == nil && v == s.value
}
