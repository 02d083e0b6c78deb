// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import "github.com/clewdev/clew/check/internal/lift"

// maxIndexSteps bounds the instructions between the comparison of an index and its use.
const maxIndexSteps = 48

// indexSearch goes backwards from the load of a table entry to the comparison that bounds the
// index. It follows the index through copies, and to the memory that it was loaded from.
type indexSearch struct {
	u        *unit
	register uint8       // that holds the index; NoRegister if it is in memory
	memory   lift.Memory // that holds it
	scale    uint8       // size of an entry, by which the index may be multiplied

	// The next branch goes on only if the compared value is below, or not above, the limit.
	below, notAbove bool
	limits          [lift.MaxRegisters]uint64 // of registers that were compared later, plus 1
	compared        uint64                    // set of these registers
}

// indexLimit returns the greatest index that the code before instruction k lets pass. Only
// code that leads straight to k counts.
func (u *unit) indexLimit(k int32, index, size uint8) (uint64, bool) {
	s := indexSearch{u: u, register: index, scale: size}
	for range maxIndexSteps {
		i := &u.instructions[k]
		if i.state >= 0 || i.joins || k == 0 {
			return 0, false
		}
		before := &u.instructions[k-1]
		if before.pc+uint64(before.Size) != i.pc || before.part != i.part {
			return 0, false
		}
		k--
		limit, found, more := s.back(before)
		if found || !more {
			return limit, found
		}
	}
	return 0, false
}

// back goes back over an instruction. It returns the limit if it is known then, and whether the
// search goes on.
func (s *indexSearch) back(i *instruction) (limit uint64, found, more bool) {
	switch i.Flow {
	case lift.FlowNext:
	case lift.FlowBranch: // not taken
		switch i.Condition {
		case lift.ConditionAboveOrEqual:
			s.below = true
		case lift.ConditionAbove:
			s.notAbove = true
		}
		return 0, false, i.writes == 0
	case lift.FlowCall, lift.FlowCallIndirect:
		if s.register == lift.NoRegister {
			return 0, false, false
		}
	default:
		return 0, false, false
	}
	if s.register == lift.NoRegister || i.writes>>s.register&1 != 0 {
		if limit, found, more = s.define(i); found || !more {
			return limit, found, more
		}
	}
	s.compared &^= i.writes
	if i.Compare && i.Right == lift.NoRegister {
		if limit, ok := s.passed(i.Limit); ok {
			if i.Left == s.register {
				return limit, true, false
			}
			s.limits[i.Left], s.compared = limit, s.compared|1<<i.Left
		}
	}
	if !i.KeepsFlags {
		s.below, s.notAbove = false, false
	}
	return 0, false, true
}

// passed returns the greatest value that the branches after a comparison with limit let pass.
func (s *indexSearch) passed(limit uint64) (uint64, bool) {
	switch {
	case s.below && limit > 0:
		return limit - 1, true
	case s.below || s.notAbove:
		return limit, s.notAbove
	}
	return 0, false
}

// follow goes on with another register, which had the same value.
func (s *indexSearch) follow(register uint8) (limit uint64, found, more bool) {
	if s.register = register; s.compared>>register&1 != 0 {
		return s.limits[register], true, false
	}
	return 0, false, true
}

// define goes back over an instruction that writes the register with the index, or any if the
// index is in memory.
func (s *indexSearch) define(i *instruction) (limit uint64, found, more bool) {
	p := &s.u.parts[i.part]
	if s.register == lift.NoRegister {
		m := s.u.c.machine.Memory(p.code[i.pc-p.start:], i.pc)
		switch m.Access {
		case lift.AccessNone, lift.AccessLoad, lift.AccessScale:
			for _, o := range s.u.operationsOf(i) {
				if _, ok := o.Writes(); !ok {
					return 0, false, false // to memory
				}
			}
		case lift.AccessCompare:
			if m.Same(&s.memory) {
				limit, found = s.passed(m.Limit)
				if s.memory.Signed && limit >= 1<<(8*m.Size-1) {
					found = false
				}
				return limit, found, false
			}
		default:
			return 0, false, false
		}
		used := uint64(0)
		for _, number := range [...]uint8{s.memory.Base, s.memory.Index} {
			if number != lift.NoRegister {
				used |= 1 << number
			}
		}
		return 0, false, i.writes&used == 0
	}
	from := uint8(lift.NoRegister)
	count := 0
	for _, o := range s.u.operationsOf(i) {
		if to, ok := o.Writes(); !ok || to != s.register {
			continue
		}
		count++
		switch {
		case o.Op == lift.OpCopy && o.Offset == 0, o.Op == lift.OpExtend && o.Size == 4,
			o.Op == lift.OpBound && (o.Offset == 0xff || o.Offset == 0xffff):
			from = o.From
		}
	}
	if count == 1 && from != lift.NoRegister && i.Clobbered>>s.register&1 == 0 {
		return s.follow(from)
	}
	m := s.u.c.machine.Memory(p.code[i.pc-p.start:], i.pc)
	switch {
	case m.Register != s.register:
		return 0, false, false
	case m.Access == lift.AccessScale && m.Scale == s.scale: // by code without optimization
		s.scale = 0
		return s.follow(m.Index)
	case m.Access != lift.AccessLoad:
		return 0, false, false
	}
	overwritten := m.Base == s.register || m.Index == s.register
	s.register, s.memory = lift.NoRegister, m
	return 0, false, !overwritten
}
