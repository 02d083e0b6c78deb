// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package compact

import (
	"encoding/binary"
	"math"

	"github.com/clewdev/clew/cfi"
)

const (
	blockShift  = 8
	groupShift  = 6
	groupBlocks = 1 << groupShift

	isRare = 255 // the code of a rule with a larger number
)

// Unwind returns the table of the rules of a section, nil if there are none. Code at 4 GiB
// or more from the first address is left out, and so is what would make the table larger than
// limit bytes.
func Unwind(s *cfi.Section, limit int) []byte {
	ranges := s.Index().Ranges()
	if len(ranges) == 0 {
		return nil
	}
	last := min(ranges[len(ranges)-1].End-ranges[0].Start, math.MaxUint32)
	if last/256*2 > uint64(limit) {
		return nil
	}
	u := unwinding{
		dictionary: newDictionary(s),
		base:       ranges[0].Start,
		limit:      limit,
		rows:       make([]byte, 2, 2+len(s.Data)/2),
	}
	u.rank(s, ranges)
	var x cfi.Interpreter
	var f cfi.FDE
	again := 4*len(s.Data) + 1<<20 // bytes of instructions that may be executed a second time
	for _, r := range ranges {
		if u.isFull(r.Start - u.base) {
			break
		}
		if s.FDEAt(r.FDE, &f) != nil {
			continue
		}
		if f.Start < r.Start {
			// The FDE goes on after one that is nested in it.
			if again -= len(f.Instructions); again < 0 {
				break
			}
		}
		for row := range x.Rows(&f) {
			if row.Start >= r.End || !u.add(max(row.Start, r.Start), min(row.End, r.End), u.number(row, f.CIE)) {
				break
			}
		}
	}
	return u.finish()
}

// unwinding is a table that is being made, by ascending address.
type unwinding struct {
	*dictionary
	base  uint64
	limit int

	groups []uint32
	blocks []uint16
	rows   []byte // two bytes a row: see tables.h
	rare   []uint32

	// The rows of the current block, the last of blocks.
	offsets [256]byte
	numbers [256]uint32
	count   int

	end  uint64 // of the last row
	rule uint32 // of the last row
}

// rank gives small numbers to the most frequent rules of a sample of the section.
func (u *unwinding) rank(s *cfi.Section, ranges []cfi.IndexRange) {
	step := 1 + len(ranges)/4096
	var x cfi.Interpreter
	var f cfi.FDE
	uses := make(map[uint32]int)
	for i := 0; i < len(ranges); i += step {
		if s.FDEAt(ranges[i].FDE, &f) != nil {
			continue
		}
		for row := range x.Rows(&f) {
			uses[u.number(row, f.CIE)]++
		}
	}
	u.sort(uses)
}

// add appends a row. It returns false if the table is full.
func (u *unwinding) add(start, end uint64, rule uint32) bool {
	start, end = start-u.base, end-u.base
	if end > math.MaxUint32 || u.isFull(end) {
		return false
	}
	if start != u.end && u.rule != 0 {
		u.row(u.end, 0)
	}
	if rule != u.rule {
		u.row(start, rule)
	}
	u.end = end
	return true
}

// isFull reports whether the table could become larger than the limit by a row that ends at an offset.
func (u *unwinding) isFull(end uint64) bool {
	const more = 4096 // the rows of the current block, and the heads and paddings of the arrays
	blocks := int(end >> blockShift)
	return more+2*blocks+4*(blocks>>groupShift)+len(u.rows)+4*len(u.rare)+16*len(u.forms)+8*len(u.saved) > u.limit
}

// row starts a row.
func (u *unwinding) row(at uint64, rule uint32) {
	u.block(int(at >> blockShift))
	if u.count > 0 && u.offsets[u.count-1] == byte(at) {
		u.count-- // the previous row ended here
	}
	u.offsets[u.count], u.numbers[u.count] = byte(at), rule
	u.count++
	u.rule = rule
}

// block goes on to a block.
func (u *unwinding) block(n int) {
	for len(u.blocks) <= n {
		u.flush()
		number := uint32(len(u.rows) / 2)
		if len(u.blocks)%groupBlocks == 0 {
			u.groups = append(u.groups, number)
		}
		u.blocks = append(u.blocks, uint16(number-u.groups[len(u.groups)-1]))
	}
}

func (u *unwinding) flush() {
	first := uint32(len(u.rows) / 2)
	u.rows = append(u.rows, u.offsets[:u.count]...)
	for i, n := range u.numbers[:u.count] {
		code := byte(isRare)
		if n < isRare {
			code = byte(n)
		} else {
			u.rare = append(u.rare, first+uint32(i), n)
		}
		u.rows = append(u.rows, code)
	}
	u.count = 0
}

func (u *unwinding) finish() []byte {
	u.write()
	u.row(u.end, 0)
	u.block(len(u.blocks)) // the end of the last one
	u.flush()
	t := newTable(magicUnwind, u.base, 6)
	le := binary.LittleEndian
	t.array(len(u.groups), 4, func(b []byte) []byte {
		for _, n := range u.groups {
			b = le.AppendUint32(b, n)
		}
		return b
	})
	t.array(len(u.blocks), 2, func(b []byte) []byte {
		for _, n := range u.blocks {
			b = le.AppendUint16(b, n)
		}
		return b
	})
	t.array(len(u.rows), 1, func(b []byte) []byte { return append(b, u.rows...) })
	t.array(len(u.rare)/2, 8, func(b []byte) []byte {
		for _, n := range u.rare {
			b = le.AppendUint32(b, n)
		}
		return b
	})
	t.array(len(u.rules), 16, func(b []byte) []byte {
		for i := range u.rules {
			r := &u.rules[i]
			b = le.AppendUint32(b, uint32(r.offset))
			b = le.AppendUint32(b, uint32(r.more))
			b = le.AppendUint32(b, r.saved)
			b = append(b, r.register, byte(r.flags), r.count, 0)
		}
		return b
	})
	t.array(len(u.saved), 8, func(b []byte) []byte {
		for _, s := range u.saved {
			b = le.AppendUint64(b, uint64(s))
		}
		return b
	})
	return t.finish()
}
