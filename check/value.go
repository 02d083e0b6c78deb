// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import "github.com/clewdev/clew/check/internal/lift"

// value is what the analysis knows about the content of a register or of a stack slot: a
// kind, a small argument and an offset. Values are comparable.
//
//	bits 0-3    kind
//	bits 4-13   argument
//	bits 14-63  offset, signed
type value uint64

type valueKind uint8

const (
	// unknown: any value.
	unknown valueKind = iota
	// other: neither an address in the frame nor the entry value of a preserved register.
	// The offset is 0, or 1 more than an upper bound of the value (as unsigned number). The
	// argument is 1 if the code compares the value with the bound.
	other
	// derived: any value but the entry value of a preserved register. It may be an address
	// in the frame.
	derived
	// entry: the value that the register of the argument's column had at the function's
	// entry, plus the offset. The entry value of the stack pointer is the CFA less
	// machine.cfaOffset.
	entry
	// symbolic: an address in the frame at an unknown distance from the CFA, plus the offset.
	// The argument numbers the instruction that made it.
	symbolic
	// constant: the offset.
	constant
	// reloaded: read from a slot in which the constant of the offset was stored. Another
	// pointer may have changed it.
	reloaded
	// tableEntry: loaded from a jump table. The argument is its index in unit.tables.
	tableEntry
	// tableTarget: the address that an entry of a jump table leads to, likewise.
	tableTarget
	// signed: the entry value of the link register, signed with the key of the argument and the
	// stack pointer at the entry.
	signed
)

const maxArgument = 1<<10 - 1

func makeValue(k valueKind, argument int, offset int64) value {
	return value(k) | value(argument&maxArgument)<<4 | value(offset)<<14
}

func (v value) kind() valueKind { return valueKind(v & 15) }
func (v value) argument() int   { return int(v>>4) & maxArgument }
func (v value) offset() int64   { return int64(v) >> 14 }

// add returns v plus n. It wraps beyond 50 bits, which no address of a user's program has.
func (v value) add(n int64) value {
	switch v.kind() {
	case entry, symbolic, constant, reloaded:
		return makeValue(v.kind(), v.argument(), v.offset()+n)
	case unknown, derived:
		return v
	}
	switch {
	case n == 0:
		return v
	case v.kind() == signed:
		return value(derived)
	}
	return value(other)
}

// address reports whether v is an address that a slot can have.
func (v value) address(m *lift.ABI) bool {
	return v.kind() == entry && v.argument() == m.SP || v.kind() == symbolic
}

// notEntry reports whether v is certainly not the entry value of a preserved register, signed
// or not.
func (v value) notEntry(m *lift.ABI) bool {
	switch v.kind() {
	case unknown, signed:
		return false
	case entry:
		return v.offset() != 0 || !m.Kept(v.argument())
	}
	return true
}

// returnAddress reports whether v is the return address in a link register at the entry,
// signed or not.
func (v value) returnAddress(m *lift.ABI) bool {
	return v.kind() == signed || v == makeValue(entry, int(m.Link), 0)
}

// join returns what holds if one of two values does.
func join(a, b value, m *lift.ABI) value {
	switch {
	case a == b:
		return a
	case !a.notEntry(m) || !b.notEntry(m):
		return value(unknown)
	case a.unrelated(m) && b.unrelated(m):
		return value(other)
	}
	return value(derived)
}

// plain reports whether v is certainly not an address in the frame, and not derived from an
// entry value.
func (v value) plain() bool {
	switch v.kind() {
	case unknown, derived, entry, symbolic, signed:
		return false
	}
	return true
}

// unrelated reports whether v is plain or made from an argument, which is not an address in the
// function's own frame.
func (v value) unrelated(m *lift.ABI) bool {
	return v.plain() || v.kind() == entry && v.argument() != m.SP && !m.Kept(v.argument())
}

// bound returns an upper bound of a number.
func (v value) bound() (uint64, bool) {
	if v.kind() == other && v.offset() > 0 {
		return uint64(v.offset() - 1), true
	}
	return 0, false
}

// bounded returns a number with an upper bound, which is exact if the code compares the
// number with it.
func bounded(limit uint64, exact bool) value {
	switch {
	case limit >= 1<<40:
		return value(other)
	case exact:
		return makeValue(other, 1, int64(limit)+1)
	}
	return makeValue(other, 0, int64(limit)+1)
}
