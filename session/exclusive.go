// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"fmt"

	"github.com/clewdev/clew/session/internal/displace"
	"github.com/clewdev/clew/session/internal/worker"
)

// An exclusive sequence of arm64 begins with a load exclusive and ends with a store exclusive, which
// fails if the processor takes an exception in between. A stop inside the sequence makes the store
// fail, so single steps would never leave the sequence. Steps and matches of debug registers
// therefore treat the sequence as one instruction: it is executed in a slot with traps at its ends.

// sequence returns the slot of the exclusive sequence that begins at an address, or nil.
func (s *Session) sequence(pc uint64) *placedSlot {
	i := s.Image(pc)
	if i == nil || !displace.HasExclusive(s.machine) {
		return nil
	}
	if instruction, ok := s.decodeWord(pc); !ok || instruction.Kind != displace.Exclusive {
		return nil
	}
	return i.traps.sequence(pc)
}

// decodeWord decodes an instruction of four bytes.
func (s *Session) decodeWord(pc uint64) (displace.Instruction, bool) {
	var code [4]byte
	if s.ReadMemory(code[:], pc) != nil {
		return displace.Instruction{}, false
	}
	instruction, err := displace.Decode(s.machine, code[:], pc)
	return instruction, err == nil
}

// sequence returns the slot of the exclusive sequence that begins at an address, or nil if it finds
// no end of the sequence.
func (t *trapTable) sequence(pc uint64) *placedSlot {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slot, ok := t.sequences[pc]; ok {
		return slot
	}
	slot, err := t.place(t.text(pc, displace.Lookahead), pc, func(slot *displace.Slot) {
		for _, p := range slot.Points {
			if p.Done {
				copy(slot.Code[p.Offset:], t.image.machine.Processor.Trap)
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

// runSequence executes a sequence as a step executes one instruction.
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
// match inside a sequence restarts it, which is allowed only if the sequence repeats itself after
// its store has failed.
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
	last, ok := s.decodeWord(start + uint64(slot.Size) - 4)
	return ok && last.Direct && last.Target == start
}
