// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"cmp"
	"math"
	"slices"

	"github.com/clewdev/clew/cfi"
)

// Compile compiles every FDE of a section. A malformed one costs only its rows
// from the fault on. Where FDEs overlap they count as in cfi.Index.
//
// Its memory and time are bounded by the section's size, whatever the section
// holds: rules that are too many are not kept, and Rules says so.
func Compile(s *cfi.Section) *Table {
	ranges := s.Index().Ranges()
	t := &Table{name: s.Name}
	// Five bytes of .eh_frame make a row, as compilers write it.
	b := tableBuilder{Table: t, starts: make([]rowStart, 0, len(s.Data)/4)}
	if len(ranges) > 0 {
		t.base = ranges[0].Start
	}
	d := newDictionary(6*len(s.Data) + 16<<20)
	again := 4*len(s.Data) + 1<<20 // bytes of instructions that may be executed anew
	var x cfi.Interpreter
	var f cfi.FDE
	for _, r := range ranges {
		if s.FDEAt(r.FDE, &f) != nil {
			continue
		}
		if f.Start < r.Start {
			// It goes on behind one that is nested in it.
			if again -= len(f.Instructions); again < 0 {
				b.add(r.Start, r.End, noRoom)
				continue
			}
		}
		for row := range x.Rows(&f) {
			if row.Start >= r.End {
				break
			}
			if row.End > r.Start {
				b.add(max(row.Start, r.Start), min(row.End, r.End), d.number(row, f.CIE))
			}
		}
	}
	b.rank(d)
	b.index(8*len(s.Data) + 1<<20) // that many blocks hold 128 MiB of code, however little there is in them
	return t
}

// tableBuilder holds the rows of a table with their whole offsets.
type tableBuilder struct {
	*Table
	starts []rowStart
}

type rowStart struct{ offset, rules uint32 }

// add appends a row that starts at or above the end of all before it.
func (b *tableBuilder) add(start, end uint64, rules uint32) {
	if end-b.base > math.MaxUint32 {
		if n := len(b.far); n > 0 && b.far[n-1].end == start && b.far[n-1].rules == rules {
			b.far[n-1].end = end
		} else {
			b.far = append(b.far, farRow{start, end, rules})
		}
		return
	}
	from, to := uint32(start-b.base), uint32(end-b.base)
	if n := len(b.starts); n > 0 && b.starts[n-1].offset == from {
		// The row before ended here, in a gap.
		b.starts = b.starts[:n-1]
	}
	if n := len(b.starts); n == 0 || b.starts[n-1].rules != rules {
		b.starts = append(b.starts, rowStart{from, rules})
	}
	b.starts = append(b.starts, rowStart{to, 0})
}

// rank numbers the rules anew, by how many rows have them.
func (b *tableBuilder) rank(d *dictionary) {
	uses := make([]int, d.len())
	for _, r := range b.starts {
		if r.rules != noRoom {
			uses[r.rules]++
		}
	}
	order := make([]uint32, d.len())
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order[1:], func(x, y uint32) int { return cmp.Compare(uses[y], uses[x]) })
	b.rules = make([]Rules, d.len())
	renumber := make([]uint32, d.len())
	for i, old := range order {
		b.rules[i], renumber[old] = *d.at(old), uint32(i)
	}
	for i := range b.starts {
		if r := &b.starts[i].rules; *r != noRoom {
			*r = renumber[*r]
		}
	}
	for i := range b.far {
		if r := &b.far[i].rules; *r != noRoom {
			*r = renumber[*r]
		}
	}
}

// index puts the rows into blocks. The rows behind those that use up the room
// for the blocks, in bytes, become far ones.
func (b *tableBuilder) index(room int) {
	rows := b.starts
	blocks := 0
	if len(rows) > 0 {
		blocks = min(int(rows[len(rows)-1].offset>>blockShift)+1, room/2)
	}
	near := len(rows)
	for near > 0 && int(rows[near-1].offset>>blockShift) >= blocks {
		near--
	}
	b.blocks = make([]uint16, 0, blocks+1)
	b.groups = make([]uint32, 0, blocks>>groupShift+1)
	b.rows = make([]byte, 2, 2*(1+near)+rowsPadding)
	holds := uint32(0)
	at := 0
	for block := range blocks + 1 {
		if block&(groupBlocks-1) == 0 {
			b.groups = append(b.groups, uint32(1+at))
		}
		b.blocks = append(b.blocks, uint16(uint32(1+at)-b.groups[len(b.groups)-1]))
		first := at
		for ; at < near && int(rows[at].offset>>blockShift) == block; at++ {
			b.rows = append(b.rows, byte(rows[at].offset))
		}
		for i, r := range rows[first:at] {
			code := byte(isRare)
			if r.rules < isRare {
				code = byte(r.rules)
			} else {
				b.rare = append(b.rare, rareRow{uint32(1 + first + i), r.rules})
			}
			b.rows = append(b.rows, code)
			if holds = r.rules; holds != 0 {
				b.size++
			}
		}
	}
	b.rows = b.rows[:cap(b.rows)]
	b.rare = slices.Clip(b.rare)
	rows = rows[near:]
	if len(rows) > 0 && holds != 0 {
		// The row that the last block leaves goes on.
		b.far = append(b.far, farRow{b.base + uint64(blocks)<<blockShift, b.base + uint64(rows[0].offset), holds})
	}
	for i, r := range rows {
		if r.rules != 0 {
			b.far = append(b.far, farRow{b.base + uint64(r.offset), b.base + uint64(rows[i+1].offset), r.rules})
		}
	}
	slices.SortFunc(b.far, func(x, y farRow) int { return cmp.Compare(x.start, y.start) })
}
