// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/clewdev/clew/cfi"
)

// columns is the set of columns in the instructions of an entry. All rows of the entry print
// them.
type columns struct {
	low    uint64   // columns below 64
	high   []uint32 // columns from 64 on, ascending
	sorted []uint32 // the set, ascending
	stale  bool     // sorted must be rebuilt
}

func (c *columns) reset() {
	c.low, c.high, c.stale = 0, c.high[:0], true
}

func (c *columns) copyFrom(o *columns) {
	c.low, c.high, c.stale = o.low, append(c.high[:0], o.high...), true
}

func (c *columns) add(column uint64) {
	if column < 64 {
		c.low |= 1 << column
		return
	}
	// cfi rejects rules for columns beyond these limits.
	if column > math.MaxUint32 || len(c.high) == 512 {
		return
	}
	if i, found := slices.BinarySearch(c.high, uint32(column)); !found {
		c.high = slices.Insert(c.high, i, uint32(column))
	}
}

// list returns the columns in ascending order. The result is valid until the next change.
func (c *columns) list() []uint32 {
	if c.stale {
		c.sorted = c.sorted[:0]
		for low := c.low; low != 0; low &= low - 1 {
			c.sorted = append(c.sorted, uint32(bits.TrailingZeros64(low)))
		}
		c.sorted = append(c.sorted, c.high...)
		c.stale = false
	}
	return c.sorted
}

// program is the result of scanning the instructions of an entry.
type program struct {
	nop     bool   // all instructions are DW_CFA_nop
	plain   bool   // all instructions are known, and each change of the location is a positive delta
	advance uint64 // sum of the unfactored deltas, if plain
}

// scan adds the columns in the instructions of an FDE, or of a CIE in the form of an FDE.
func (c *columns) scan(f *cfi.FDE, ins *cfi.Instruction) program {
	s := program{nop: true, plain: true}
	p := f.Instructions
	little := f.CIE.Section.Machine.Order == binary.LittleEndian
	for i := 0; i < len(p); {
		b := p[i]
		if b == byte(cfi.CFANop) {
			i++
			continue
		}
		s.nop = false
		// The most common instructions are scanned here, because decoding is slower. All
		// others, and those with longer operands, are decoded by package cfi, and their
		// row in its table of opcodes says what they change: a new operation needs nothing
		// here.
		switch {
		case b&0xc0 == byte(cfi.CFAAdvanceLoc) && b != byte(cfi.CFAAdvanceLoc):
			s.advance += uint64(b & 0x3f)
			i++
		case b == byte(cfi.CFADefCFAOffset) && i+2 < len(p) && p[i+1]&p[i+2] < 0x80:
			i += 2 + int(p[i+1]>>7)
		case b&0xc0 == byte(cfi.CFAOffset) && i+1 < len(p) && p[i+1] < 0x80:
			c.low |= 1 << (b & 0x3f)
			i += 2
		case b == byte(cfi.CFAAdvanceLoc1) && i+1 < len(p) && p[i+1] != 0:
			s.advance += uint64(p[i+1])
			i += 2
		case b == byte(cfi.CFAAdvanceLoc2) && i+2 < len(p) && p[i+1]|p[i+2] != 0 && little:
			s.advance += uint64(p[i+1]) | uint64(p[i+2])<<8
			i += 3
		case b == byte(cfi.CFARememberState) || b == byte(cfi.CFARestoreState):
			i++
		case b&0xc0 == byte(cfi.CFARestore):
			c.low |= 1 << (b & 0x3f)
			i++
		default:
			remaining := cfi.FDE{CIE: f.CIE, Start: f.Start, Instructions: p[i:], InstructionsOffset: f.InstructionsOffset + uint64(i)}
			d := remaining.Decode()
			if !d.Next(ins) {
				s.plain = false
				i = len(p)
				break
			}
			i += int(ins.Size)
			c.instruction(ins, &s)
		}
	}
	c.stale = true
	return s
}

// instruction adds the column of an instruction.
func (c *columns) instruction(ins *cfi.Instruction, s *program) {
	switch ins.Op.Effect() {
	case cfi.EffectRegister:
		c.add(ins.Register)
	case cfi.EffectLocation:
		// A sum of larger deltas could overflow.
		s.plain = s.plain && ins.Op.Operands()&cfi.OperandDelta != 0 && uint64(ins.Operand-1) < math.MaxUint32
		s.advance += uint64(ins.Operand)
	case cfi.EffectWindow:
		s.plain = false
	}
}
