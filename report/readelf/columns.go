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

// columns is the set of columns that the instructions of an entry name, each
// of which has its place in all rows of the entry.
type columns struct {
	low    uint64   // columns below 64
	sorted []uint32 // the set, ascending
	stale  bool     // sorted lacks columns that low has
	high   []uint32 // columns from 64 on, ascending
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
	// cfi refuses a rule for a column beyond these bounds.
	if column > math.MaxUint32 || len(c.high) == 512 {
		return
	}
	if i, found := slices.BinarySearch(c.high, uint32(column)); !found {
		c.high = slices.Insert(c.high, i, uint32(column))
	}
}

// list returns the columns in ascending order, until the next change.
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

// program is what a first look at the instructions of an entry tells.
type program struct {
	nop     bool   // it is nothing but DW_CFA_nop
	plain   bool   // no instruction moves the location by nothing, back, or is unknown
	advance uint64 // sum of the deltas, where plain; not yet factored
}

// scan adds the columns that the instructions of an FDE, or of a CIE in the
// guise of an FDE, name.
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
		// The instructions that make up nearly all of real programs are looked
		// at in place; the others are decoded.
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
			rest := cfi.FDE{CIE: f.CIE, Start: f.Start, Instructions: p[i:], InstructionsOffset: f.InstructionsOffset + uint64(i)}
			d := rest.Decode()
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

// instruction adds the column that an instruction names.
func (c *columns) instruction(ins *cfi.Instruction, s *program) {
	switch ins.Op.Effect() {
	case cfi.EffectRegister:
		c.add(ins.Register)
	case cfi.EffectLocation:
		// A sum of larger deltas could pass 2^64 unseen.
		s.plain = s.plain && ins.Op.Operands()&cfi.OperandDelta != 0 && uint64(ins.Operand-1) < math.MaxUint32
		s.advance += uint64(ins.Operand)
	case cfi.EffectWindow:
		s.plain = false
	}
}
