// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

// MaxColumns is the number of register columns that Registers can hold.
// Every machine of package arch numbers its general registers and its return
// address below it.
const MaxColumns = 128

// Registers are the registers of one thread in one frame, by DWARF column.
// The zero value knows no register. A Registers is not safe for concurrent
// use; copying it is cheap enough outside hot loops (about 1 KiB).
type Registers struct {
	// PC is the address of the instruction that runs next in this frame: in
	// the innermost frame the program counter, in the others a return address.
	PC uint64

	known  columnSet
	values [MaxColumns]uint64
}

// Get returns the value of a column, and false where it is not known.
func (r *Registers) Get(column uint64) (uint64, bool) {
	if column >= MaxColumns || !r.known.has(column) {
		return 0, false
	}
	return r.values[column], true
}

// Set makes the value of a column known. A column at or above MaxColumns is
// ignored.
func (r *Registers) Set(column, value uint64) {
	if column >= MaxColumns {
		return
	}
	r.values[column] = value
	r.known.set(column, true)
}

// Forget makes the value of a column unknown.
func (r *Registers) Forget(column uint64) {
	if column < MaxColumns {
		r.known.set(column, false)
	}
}

// keep forgets the columns that are not in a set.
func (r *Registers) keep(columns *columnSet) {
	for i := range r.known {
		r.known[i] &= columns[i]
	}
}

// columnSet is a set of columns below MaxColumns.
type columnSet [MaxColumns / 64]uint64

func (s *columnSet) has(column uint64) bool { return s[column/64]&(1<<(column%64)) != 0 }

func (s *columnSet) set(column uint64, in bool) {
	if bit := uint64(1) << (column % 64); in {
		s[column/64] |= bit
	} else {
		s[column/64] &^= bit
	}
}
