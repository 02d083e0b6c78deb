// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"math/bits"

	"github.com/clewdev/clew/check/internal/lift"
)

// execute changes a state as the operations of an instruction do. The number of the
// instruction, if it is not 0, identifies the symbols that it makes.
func (u *unit) execute(s *state, i *instruction, number int) {
	operations := u.operationsOf(i)
	for k := range operations {
		u.operate(s, &operations[k], number)
	}
	if c := i.Clobbered; c != 0 {
		s.clobber(c, u.c.abi)
	}
}

// clobber gives a set of registers unknown numbers.
func (s *state) clobber(set uint64, m *lift.ABI) {
	if set>>m.SP&1 != 0 {
		s.set(uint8(m.SP), value(other), 0, m)
		set &^= 1 << m.SP
	}
	for ; set != 0; set &= set - 1 {
		s.registers[bits.TrailingZeros64(set)%lift.MaxRegisters] = value(other)
	}
}

// set sets a register. A number is another stack if the register is the stack pointer.
func (s *state) set(to uint8, v value, number int, m *lift.ABI) {
	if int(to) == m.SP && !v.address(m) {
		if v.kind() == derived && number > 0 && number < maxArgument {
			s.forget(number)
			v = makeValue(symbolic, number, 0)
		} else {
			v = value(unknown)
		}
	}
	s.registers[to] = v
}

// operate executes an operation.
func (u *unit) operate(s *state, o *lift.Operation, number int) {
	m := u.c.abi
	var from value
	if o.From != lift.NoRegister {
		from = s.registers[o.From]
	} else {
		from = value(other)
	}
	switch o.Op {
	case lift.OpCopy:
		if int(o.From) == m.SP {
			number = 0 // its distance from other places stays unknown
		}
		s.set(o.To, from.add(o.Offset), number, m)
	case lift.OpConstant:
		s.set(o.To, makeValue(constant, 0, o.Offset), 0, m)
	case lift.OpInsert:
		s.set(o.To, from.insert(o.Offset, o.Size), 0, m)
	case lift.OpLoad:
		s.set(o.To, s.load(from.add(o.Offset), m), 0, m)
	case lift.OpStore:
		at := s.registers[o.To].add(o.Offset)
		if from.kind() == entry && from.offset() == 0 && m.Preserves(from.argument()) && s.trust == sure &&
			at.kind() == entry && at.argument() == m.SP && at.offset() >= m.CFAOffset {
			u.framed = true
		}
		if o.Size == 8 && !at.address(m) {
			s.spill(o.From, from, m)
		}
		s.store(at, from, int64(o.Size), m)
	case lift.OpSpill:
		s.spill(o.From, from, m)
	case lift.OpReload:
		s.set(o.To, s.outside(), 0, m)
	case lift.OpStoreUnsized:
		s.storeUnsized(s.registers[o.To], m)
	case lift.OpSum:
		s.set(o.To, u.sum(from, s.registers[o.Index], o.Size), number, m)
	case lift.OpDifference:
		index := s.registers[o.Index]
		if index.kind() == constant {
			s.set(o.To, from.add(-index.offset()), number, m)
		} else {
			s.set(o.To, indexed(from, index, m), number, m)
		}
	case lift.OpIndexed:
		index := value(other)
		if o.Index != lift.NoRegister {
			index = s.registers[o.Index]
		}
		s.set(o.To, indexed(from, index, m), number, m)
	case lift.OpAlign:
		if from.address(m) || from.kind() == derived || from.kind() == unknown {
			s.set(o.To, value(derived), number, m)
		} else {
			s.set(o.To, value(other), 0, m)
		}
	case lift.OpSelect:
		s.set(o.To, join(from, s.registers[o.Index], m), 0, m)
	case lift.OpBound:
		v := bounded(uint64(o.Offset), false)
		if limit, ok := from.bound(); ok && limit <= uint64(o.Offset) {
			v = from
		}
		s.set(o.To, v, 0, m)
	case lift.OpExtend:
		s.set(o.To, u.extend(from, o.Size, o.Signed), 0, m)
	case lift.OpTable:
		s.set(o.To, u.loadTable(s, o, from, number), 0, m)
	default:
		s.set(o.To, sign(s, o, from, m), 0, m)
	}
}

// sign executes the operations on signatures of the return address.
func sign(s *state, o *lift.Operation, from value, m *lift.ABI) value {
	plain, key := makeValue(entry, int(m.Link), 0), makeValue(signed, int(o.Offset), 0)
	// The stack pointer is part of the signature. Unwinders expect that it was the CFA.
	atEntry := s.registers[m.SP] == makeValue(entry, m.SP, m.CFAOffset)
	switch {
	case o.Op == lift.OpSign && from == plain && atEntry:
		return key
	case o.Op == lift.OpAuthenticate && from == key && atEntry:
		return plain
	case o.Op == lift.OpStrip && from.kind() == signed:
		return plain
	case o.Op == lift.OpForget, from.returnAddress(m) && o.Op != lift.OpStrip:
		return value(unknown)
	}
	return from
}

// insert returns a value in which 16 bits from a bit on are replaced.
func (v value) insert(bits int64, shift uint8) value {
	if v.kind() != constant {
		return value(other)
	}
	n := v.offset()&^(0xffff<<shift) | bits<<shift
	if n != n<<14>>14 {
		return value(other)
	}
	return makeValue(constant, 0, n)
}

// extend returns a value that was cut to a number of bytes and extended.
func (u *unit) extend(v value, size uint8, bySign bool) value {
	switch v.kind() {
	case other:
		if limit, ok := v.bound(); size == 4 || ok && limit < 1<<(8*size-1) {
			return v
		}
		if size < 4 && !bySign {
			return bounded(1<<(8*size)-1, false)
		}
	case tableEntry:
		return u.extendEntry(v, size, bySign)
	case constant:
		if n := v.offset(); n >= 0 && n < 1<<(8*size-1) {
			return v
		}
	}
	return value(other)
}

// sum returns the sum of two values, of which the second is shifted left.
func (u *unit) sum(a, b value, shift uint8) value {
	if shift == 0 && (a.kind() == constant && b.kind() != constant && b.kind() != tableEntry || a.kind() == tableEntry) {
		a, b = b, a
	}
	switch {
	case b.kind() == constant:
		return a.add(b.offset() << shift)
	case b.kind() == tableEntry && (a.kind() == constant || a.kind() == reloaded):
		return u.entryTarget(b, a, shift)
	}
	return indexed(a, b, u.c.abi)
}

// indexed returns the combination of two registers to which no rule applies.
func indexed(a, b value, m *lift.ABI) value {
	if a.unrelated(m) && b.unrelated(m) {
		return value(other)
	}
	return value(derived)
}

// compared returns the instruction whose comparison the flags hold after i, given that before
// i, or nil.
func (u *unit) compared(before, i *instruction) *instruction {
	switch {
	case i.Compare:
		return i
	case before != nil && (!i.KeepsFlags || before.overwritten(i, u)):
		return nil
	}
	return before
}

// overwritten reports whether an instruction writes a register that was compared.
func (i *instruction) overwritten(by *instruction, u *unit) bool {
	if by.Clobbered>>i.Left&1 != 0 || i.Right != lift.NoRegister && by.Clobbered>>i.Right&1 != 0 {
		return true
	}
	for _, o := range u.operationsOf(by) {
		if to, ok := o.Writes(); ok && (to == i.Left || to == i.Right) {
			return true
		}
	}
	return false
}

// refine adds what a conditional branch says about compared registers.
func refine(s *state, compared *instruction, c lift.Condition, taken bool, m *lift.ABI) {
	if compared == nil || c == lift.ConditionNone {
		return
	}
	if !taken {
		c = [...]lift.Condition{lift.ConditionNone, lift.ConditionNotEqual, lift.ConditionEqual, lift.ConditionAboveOrEqual, lift.ConditionAbove, lift.ConditionBelowOrEqual, lift.ConditionBelow}[c]
	}
	left := &s.registers[compared.Left]
	before := *left
	if compared.Right != lift.NoRegister {
		right := &s.registers[compared.Right]
		if c == lift.ConditionEqual {
			switch {
			case left.address(m) && !right.address(m):
				*right = *left
			case right.address(m) && !left.address(m):
				*left = *right
			}
		}
		return
	}
	if left.kind() != other && left.kind() != derived && (left.kind() != entry || !left.notEntry(m) || left.address(m)) || compared.Limit > 1<<32 {
		return
	}
	s.exact = true
	switch {
	case c == lift.ConditionBelow && compared.Limit > 0:
		*left = bounded(compared.Limit-1, true)
	case c == lift.ConditionBelowOrEqual:
		*left = bounded(compared.Limit, true)
	}
	if before.kind() == entry {
		for i := range s.registers[:m.Registers] {
			if s.registers[i] == before { // a copy
				s.registers[i] = *left
			}
		}
	}
}
