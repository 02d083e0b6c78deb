// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"fmt"

	"github.com/clewdev/clew/session/internal/displace"
	"github.com/clewdev/clew/session/internal/worker"
)

// An exclusive sequence of arm64 goes from a load exclusive to a store that succeeds only if
// nothing came between. A stop in it makes the store fail, so stepping through it never ends.
// Steps treat a sequence as one instruction, and so do debug registers that match in it: it is
// executed in a slot with traps at its ends.

// sequence returns the slot of the exclusive sequence that begins at an address,
// or nil.
func (s *Session) sequence(pc uint64) *placedSlot {
	if !displace.HasExclusive(s.machine) {
		return nil
	}
	i := s.Image(pc)
	if i == nil {
		return nil
	}
	var code [4]byte
	if s.ReadMemory(code[:], pc) != nil {
		return nil
	}
	if instruction, err := displace.Decode(s.machine, code[:], pc); err != nil || instruction.Kind != displace.Exclusive {
		return nil
	}
	return i.traps.sequence(pc)
}

// sequence returns the slot of the exclusive sequence that begins at an address,
// or nil where no end of it is found.
func (t *trapTable) sequence(pc uint64) *placedSlot {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slot, ok := t.sequences[pc]; ok {
		return slot
	}
	slot, err := t.placeWith(t.text(pc, displace.Lookahead), pc, func(slot *displace.Slot) {
		for _, p := range slot.Points {
			if p.Done {
				copy(slot.Code[p.Offset:], trapInstruction(t.image.machine))
			}
		}
	})
	if err != nil {
		slot = nil
	}
	if t.sequences == nil {
		t.sequences = map[uint64]*placedSlot{}
	}
	t.sequences[pc] = slot
	return slot
}

// runSequence executes a sequence, like a step one instruction.
func (s *Session) runSequence(slot *placedSlot) (happening, worker.Event, error) {
	s.considered = 0
	s.enterSequence(slot)
	if err := s.worker.SetRegisters(&s.registers); err != nil && err != worker.ErrGone {
		return 0, worker.Event{}, fmt.Errorf("setting the worker's registers: %w", err)
	}
	s.kernel = s.registers
	what, event, err := s.wait(s.worker.Continue())
	if what == ownTrap && s.in.slot == slot && s.in.point.Done {
		what = stepped
	}
	return what, event, err
}

func (s *Session) enterSequence(slot *placedSlot) {
	s.in = inSlot{slot: slot, entry: s.registers}
	s.registers.Enter(slot.start)
}

// passSequence sets r, the registers of a worker at a match of a debug register, so that the
// worker executes the exclusive sequence around the match. It reports false if there is none. A
// match inside a sequence restarts it, which is only done if the sequence itself repeats when
// its store fails.
func (s *Session) passSequence(r *worker.General) bool {
	s.registers = *r
	s.showSlot()
	pc := s.registers.PC()
	i := s.Image(pc)
	if i == nil {
		return false
	}
	start, inside := i.traps.sequenceStart(pc)
	if !inside {
		start = pc
	}
	slot := s.sequence(start)
	if slot == nil || inside && !s.retries(slot) {
		return false
	}
	s.enterSequence(slot)
	*r = s.registers
	return true
}

// retries reports whether a sequence ends with a branch to its beginning.
func (s *Session) retries(slot *placedSlot) bool {
	start := slot.Points[0].PC
	last := start + uint64(slot.Size) - 4
	var code [4]byte
	if s.ReadMemory(code[:], last) != nil {
		return false
	}
	instruction, err := displace.Decode(s.machine, code[:], last)
	return err == nil && instruction.Direct && instruction.Target == start
}
