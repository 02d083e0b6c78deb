// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import "math/bits"

// MaxColumns is the number of register columns that Registers can hold.
// Every machine of package arch has its general registers and its return address below
// it.
const MaxColumns = 128

// Registers are the registers of one thread in one frame, by DWARF column.
// The zero value knows no register. A Registers is not safe for concurrent
// use; copying it is cheap enough outside hot loops (about 1 KiB).
type Registers struct {
	// PC is the address of the next instruction of this frame: the program counter in
	// the innermost frame, a return address in the others.
	PC uint64

	known  columnSet
	values [MaxColumns]uint64
}

// Get returns the value of a column, and false if it is not known.
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

// keep forgets the columns outside a set.
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

// FrameRegisters are the registers of one frame in a compact form, for keeping those of
// many frames. Two words hold the set of known columns, and their values follow by
// ascending column. A FrameRegisters does not change. Nil holds no register.
type FrameRegisters []uint64

// Kept returns a compact copy of the registers, which later changes do not affect.
func (r *Registers) Kept() FrameRegisters {
	n := len(r.known)
	for _, word := range r.known {
		n += bits.OnesCount64(word)
	}
	kept := append(make(FrameRegisters, 0, n), r.known[:]...)
	for i, word := range r.known {
		for ; word != 0; word &= word - 1 {
			kept = append(kept, r.values[64*i+bits.TrailingZeros64(word)])
		}
	}
	return kept
}

// Get returns the value of a DWARF column, and false if it is not known.
func (r FrameRegisters) Get(column uint64) (uint64, bool) {
	if column >= MaxColumns || len(r) == 0 {
		return 0, false
	}
	bit := uint64(1) << (column % 64)
	if r[column/64]&bit == 0 {
		return 0, false
	}
	at := MaxColumns/64 + bits.OnesCount64(r[column/64]&(bit-1))
	if column >= 64 {
		at += bits.OnesCount64(r[0])
	}
	return r[at], true
}
