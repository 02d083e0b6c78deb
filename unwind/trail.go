// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"encoding/binary"
	"unsafe"

	"github.com/clewdev/clew/arch"
)

// Trail is the path of a walk through the stack of a thread. The next walk of the thread by
// [Walker.Follow] compares the words that led from frame to frame, and walks only where they
// have changed. The reads of these words do not depend on each other, so the processor can
// overlap them. The zero value is a path without frames.
//
// A Trail belongs to one thread of one process. It keeps only those words of the walked
// memory. It is not safe for concurrent use.
type Trail struct {
	steps []step // innermost first; those before head are spare
	slots []slot // additional slots of the steps, in their order
	head  int
	// The buffers of the next walk.
	nextSteps []step
	nextSlots []slot

	kept      int
	fixed     int // the number of outermost steps that depend only on their state and slots
	ascending int // the number of outermost steps after the last one that led down

	// The slots of a step and of all outer ones are between its stack pointer and
	// high, unless they are scattered.
	high      uint64
	scattered bool
	ended     bool // the outermost step ends the stack, whatever other memory holds

	// The trail is valid for these.
	of         *Modules
	generation uint64
	machine    *arch.Machine
}

// step is a frame of a trail: its state, and the slots that led to its caller. It has
// the size of a cache line.
type step struct {
	pc, sp, fp uint64

	// If hasSlots is set: the return address and the frame pointer, or the return
	// address twice. Other steps depend on any number of slots.
	ra, saved slot
	more      uint32 // the index of the first of these; they end where those of the next step begin
	is        stepFacts
}

// state is everything that leaving a frame depends on, except the slots.
type state struct {
	pc, sp, fp uint64
	is         stepFacts
}

func (s *step) state() state { return state{s.pc, s.sp, s.fp, s.is & stateMask} }

var _ [stepSize]byte = [unsafe.Sizeof(step{})]byte{}

type stepFacts uint32

const (
	// Set by the previous step. The lowest bits are the Method.
	methodMask  stepFacts = 1<<3 - 1
	interrupted stepFacts = 1 << iota << 2
	basesKnown            // the stack pointer and the frame pointer are known

	// Known from its address.
	trampoline
	lookedUpAtPC

	hasSlots

	gap       // see Frame.Gap; set by the previous step, like the next
	spGuessed // see Walker.guessed

	stateMask = methodMask | interrupted | basesKnown | gap | spGuessed
)

// slot is a word of 8 bytes that was read, least significant byte first.
type slot struct{ addr, value uint64 }

// Step is one frame of a Trail. Its fields have the same meaning as in [Frame].
type Step struct {
	PC, LookupPC, SP        uint64
	Method                  Method
	Gap                     bool
	Interrupted, Trampoline bool
}

// Len returns the number of frames.
func (t *Trail) Len() int { return len(t.steps) - t.head }

// At returns frame i, counted from the innermost, which is 0. It panics if there is
// none.
func (t *Trail) At(i int) Step {
	s := &t.steps[t.head+i]
	return Step{PC: s.pc, LookupPC: s.lookup(), SP: s.sp, Method: Method(s.is & methodMask),
		Gap: s.is&gap != 0, Interrupted: s.is&interrupted != 0, Trampoline: s.is&trampoline != 0}
}

// FramePointer returns the frame pointer in frame i, and whether it and the stack pointer are known.
// It panics unless i is in [0, Len).
func (t *Trail) FramePointer(i int) (fp uint64, known bool) {
	s := &t.steps[t.head+i]
	return s.fp, s.is&basesKnown != 0
}

// LookupPC returns the LookupPC of frame i. It panics if there is none.
func (t *Trail) LookupPC(i int) uint64 { return t.steps[t.head+i].lookup() }

func (s *step) lookup() uint64 {
	if s.is&(interrupted|lookedUpAtPC) != 0 {
		return s.pc
	}
	return s.pc - 1
}

// Kept returns the number of outermost frames that the last walk found unchanged since
// the one before it. Results that were computed from them are still valid. The other
// frames are new, but can be equal.
func (t *Trail) Kept() int { return t.kept }

// Forget makes the path empty, and keeps its memory.
func (t *Trail) Forget() {
	t.steps, t.slots = t.steps[:0], t.slots[:0]
	t.head, t.kept, t.fixed, t.ascending = 0, 0, 0, 0
}

// spare is the number of free steps before those of a whole walk, for new inner steps
// of the next one. There are twice as many free slots.
const spare = 32

// changed returns the first step, from the given one on, with a slot that holds another
// word than before. It returns the number of steps if there is none.
func (t *Trail) changed(from int, w *Walker) int {
	stack := &w.Stack
	inStack := !t.scattered && t.steps[from].sp >= stack.Address && t.high-stack.Address <= uint64(len(stack.Bytes))
	for i := from; i < len(t.steps); i++ {
		if inStack {
			i += sameSteps(t.steps[i:], stack)
		} else {
			if t.scattered {
				w.enter(t.steps[i].sp)
			}
			i += sameStepsWithin(t.steps[i:], stack)
		}
		if i == len(t.steps) {
			break
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
	// Half of the time of a walk that changes little is spent here. The caller has checked
	// the bounds of all slots together.
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

// sameStepsWithin returns the number of steps at the start with unchanged slots in the stack.
func sameStepsWithin(steps []step, stack *Stack) int {
	if len(stack.Bytes) < 8 {
		return 0
	}
	memory, base, limit := unsafe.Pointer(unsafe.SliceData(stack.Bytes)), stack.Address, uint64(len(stack.Bytes)-8)
	for n := range steps {
		s := &steps[n]
		if s.is&hasSlots == 0 || s.ra.addr-base > limit || s.saved.addr-base > limit || changedSlots(s, memory, base) != 0 {
			return n
		}
	}
	return len(steps)
}

// changedSlots returns 0 if the slots of a step are unchanged.
func changedSlots(s *step, memory unsafe.Pointer, base uint64) uint64 {
	return (word(memory, s.ra.addr-base) ^ s.ra.value) | (word(memory, s.saved.addr-base) ^ s.saved.value)
}

// holds reports whether a slot is unchanged.
func (w *Walker) holds(s *slot) bool {
	if at, n := s.addr-w.Stack.Address, uint64(len(w.Stack.Bytes)); at < n && n-at >= 8 {
		return binary.LittleEndian.Uint64(w.Stack.Bytes[at:]) == s.value
	}
	v, err := w.word8(s.addr)
	return err == nil && v == s.value
}
