// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import "unsafe"

// changed returns the first step, from the given one on, with a slot that holds another
// word than before. It returns the number of steps if there is none.
func (t *Trail) changed(from int, w *Walker) int {
	stack := &w.Stack
	inStack := !t.scattered && t.steps[from].sp >= stack.Address && t.high-stack.Address <= uint64(len(stack.Bytes))
	for i := from; i < len(t.steps); i++ {
		if inStack {
			i += sameSteps(t.steps[i:], stack)
			if i == len(t.steps) {
				break
			}
		}
		s := &t.steps[i]
		if s.is&hasSlots != 0 && !(w.holds(&s.ra) && w.holds(&s.saved)) {
			return i
		}
		end := len(t.slots)
		if i+1 < len(t.steps) {
			end = int(t.steps[i+1].more)
		}
		for j := int(s.more); j < end; j++ {
			if !w.holds(&t.slots[j]) {
				return i
			}
		}
	}
	return len(t.steps)
}

// sameSteps returns the number of steps at the start with unchanged slots. All slots
// must be in the stack.
func sameSteps(steps []step, stack *Stack) int {
	// Read without bounds checks, which were made for all slots together: half
	// of the time of a walk that changes little is spent here.
	memory, base := unsafe.Pointer(unsafe.SliceData(stack.Bytes)), stack.Address
	first := unsafe.Pointer(unsafe.SliceData(steps))
	n := 0
	for ; n+4 <= len(steps); n += 4 {
		s := (*[4]step)(unsafe.Add(first, n*stepSize))
		if s[0].is&s[1].is&s[2].is&s[3].is&hasSlots == 0 ||
			changedSlots(&s[0], memory, base)|changedSlots(&s[1], memory, base)|
				changedSlots(&s[2], memory, base)|changedSlots(&s[3], memory, base) != 0 {
			break
		}
	}
	for n < len(steps) && steps[n].is&hasSlots != 0 && changedSlots(&steps[n], memory, base) == 0 {
		n++
	}
	return n
}

// changedSlots returns 0 if the slots of a step are unchanged.
func changedSlots(s *step, memory unsafe.Pointer, base uint64) uint64 {
	return (word(memory, s.ra.addr-base) ^ s.ra.value) | (word(memory, s.saved.addr-base) ^ s.saved.value)
}

// holds reports whether a slot is unchanged.
func (w *Walker) holds(s *slot) bool {
	v, err := w.word8(s.addr)
	return err == nil && v == s.value
}
