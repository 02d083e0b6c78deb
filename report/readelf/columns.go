// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf

import (
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

// scan adds the columns that instructions name, and reports whether they are
// nothing but DW_CFA_nop.
func (c *columns) scan(d cfi.Decoder, ins *cfi.Instruction) (nop bool) {
	nop = true
	for d.Next(ins) {
		switch ins.Op {
		case cfi.CFANop:
			continue
		case cfi.CFAOffset, cfi.CFARestore, cfi.CFAOffsetExtended, cfi.CFAOffsetExtendedSF,
			cfi.CFAGNUNegativeOffsetExtended, cfi.CFARestoreExtended, cfi.CFAValOffset, cfi.CFAValOffsetSF,
			cfi.CFAUndefined, cfi.CFASameValue, cfi.CFARegister, cfi.CFAExpression, cfi.CFAValExpression:
			c.add(ins.Register)
		}
		nop = false
	}
	c.stale = true
	return nop && d.Err() == nil
}
