// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import "math/bits"

// execute changes the state as the operations of an instruction do. The number of the
// instruction identifies the symbols that it makes.
func (s *state) execute(i *instruction, operations []operation, number int, m *abi) {
	for k := range operations {
		s.operate(&operations[k], number, m)
	}
	if c := i.clobbered; c != 0 {
		s.clobber(c, m)
	}
}

// clobber gives a set of registers unknown numbers.
func (s *state) clobber(set uint64, m *abi) {
	for ; set != 0; set &= set - 1 {
		s.set(uint8(bits.TrailingZeros64(set)), value(other), 0, m)
	}
}

// set sets a register. A number is another stack if the register is the stack pointer.
func (s *state) set(to uint8, v value, number int, m *abi) {
	if int(to) == m.sp && !v.address(m) {
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
func (s *state) operate(o *operation, number int, m *abi) {
	var from value
	if o.from != noRegister {
		from = s.registers[o.from]
	} else {
		from = value(other)
	}
	switch o.op {
	case opCopy:
		if int(o.from) == m.sp {
			number = 0 // its distance from other places stays unknown
		}
		s.set(o.to, from.add(o.offset), number, m)
	case opConstant:
		s.set(o.to, makeValue(constant, 0, o.offset), 0, m)
	case opLoad:
		s.set(o.to, s.load(from.add(o.offset), m), 0, m)
	case opStore:
		s.store(s.registers[o.to].add(o.offset), from, int64(o.size), m)
	case opSum:
		s.set(o.to, s.sum(from, s.registers[o.index], m), number, m)
	case opDifference:
		index := s.registers[o.index]
		if index.kind() == constant {
			s.set(o.to, from.add(-index.offset()), number, m)
		} else {
			s.set(o.to, s.indexed(from, index, m), number, m)
		}
	case opIndexed:
		s.set(o.to, s.indexed(from, s.registers[o.index], m), number, m)
	case opAlign:
		if from.address(m) || from.kind() == derived || from.kind() == unknown {
			s.set(o.to, value(derived), number, m)
		} else {
			s.set(o.to, value(other), 0, m)
		}
	case opSelect:
		s.set(o.to, join(s.registers[o.to], from, m), 0, m)
	case opBound:
		v := bounded(uint64(o.offset), false)
		if limit, ok := from.bound(); ok && limit <= uint64(o.offset) {
			v = from
		}
		s.set(o.to, v, 0, m)
	case opKeep:
		s.set(o.to, from.narrow(), 0, m)
	case opTable4, opTable8:
		s.set(o.to, s.table(o, from, m), 0, m)
	case opSign:
		s.signed = uint8(o.offset)
	}
}

// narrow returns a value that was cut to 32 bits and extended.
func (v value) narrow() value {
	switch v.kind() {
	case other, relativeEntry:
		return v
	case constant:
		if n := v.offset(); n >= 0 && n < 1<<31 {
			return v
		}
	}
	return value(other)
}

// sum returns the sum of two registers.
func (s *state) sum(a, b value, m *abi) value {
	if a.kind() != constant {
		a, b = b, a
	}
	if a.kind() == constant {
		if b.kind() == relativeEntry && b.offset() == a.offset() {
			return makeValue(relativeTarget, b.argument(), b.offset())
		}
		if b.kind() != relativeEntry {
			return b.add(a.offset())
		}
	}
	return s.indexed(a, b, m)
}

// indexed returns the combination of two registers to which no rule applies.
func (s *state) indexed(a, b value, m *abi) value {
	if a.plain() && b.plain() {
		return value(other)
	}
	return value(derived)
}

// table returns what a load from a table yields.
func (s *state) table(o *operation, base value, m *abi) value {
	at := makeValue(constant, 0, o.offset)
	index := value(other)
	if o.index != noRegister {
		index = s.registers[o.index]
	}
	if o.from != noRegister {
		if base.kind() != constant && index.kind() == constant {
			base, index = index, base
		}
		if base.kind() != constant {
			if base.plain() || base.kind() == entry && base.argument() != m.sp {
				return value(other)
			}
			return value(derived) // perhaps saved in the frame
		}
		at = base.add(o.offset)
	}
	count := 0
	if limit, ok := index.bound(); ok && limit+1 < tableExact {
		count = int(limit) + 1 | index.argument()*tableExact
	}
	kind := relativeEntry
	if o.op == opTable8 {
		kind = absoluteTarget
	}
	return makeValue(kind, count, at.offset())
}

// compared returns the instruction whose comparison the flags hold after i, given that before
// i, or nil.
func (u *unit) compared(before, i *instruction) *instruction {
	switch {
	case i.compare:
		return i
	case before != nil && (!i.keepsFlags || before.overwritten(i, u)):
		return nil
	}
	return before
}

// overwritten reports whether an instruction writes a register that was compared.
func (i *instruction) overwritten(by *instruction, u *unit) bool {
	if by.clobbered>>i.left&1 != 0 || i.right != noRegister && by.clobbered>>i.right&1 != 0 {
		return true
	}
	for _, o := range u.operationsOf(by) {
		if o.op != opStore && (o.to == i.left || o.to == i.right) {
			return true
		}
	}
	return false
}

// refine adds what a conditional branch says about compared registers.
func refine(s *state, compared *instruction, c condition, taken bool, m *abi) {
	if compared == nil || c == conditionNone {
		return
	}
	if !taken {
		c = [...]condition{conditionNone, conditionNotEqual, conditionEqual, conditionAboveOrEqual, conditionAbove, conditionBelowOrEqual, conditionBelow}[c]
	}
	left := &s.registers[compared.left]
	before := *left
	if compared.right != noRegister {
		right := &s.registers[compared.right]
		if c == conditionEqual {
			switch {
			case left.address(m) && !right.address(m):
				*right = *left
			case right.address(m) && !left.address(m):
				*left = *right
			}
		}
		return
	}
	if left.kind() != other && left.kind() != derived && (left.kind() != entry || !left.notEntry(m) || left.address(m)) || compared.limit > 1<<32 {
		return
	}
	switch {
	case c == conditionBelow && compared.limit > 0:
		*left = bounded(compared.limit-1, true)
	case c == conditionBelowOrEqual:
		*left = bounded(compared.limit, true)
	}
	if before.kind() == entry {
		for i := range s.registers[:m.registers] {
			if s.registers[i] == before { // a copy
				s.registers[i] = *left
			}
		}
	}
}
