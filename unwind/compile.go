// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/clewdev/clew/cfi"
)

// Compile compiles every FDE of a section. For a malformed FDE, the table contains the rows
// before the fault. Overlapping FDEs have the precedence of cfi.Index.
//
// The section's size bounds memory and time, whatever the section holds. Rules above
// the limit are dropped, and Table.Rules returns an error for their addresses.
func Compile(s *cfi.Section) *Table {
	ranges := s.Index().Ranges()
	t := &Table{name: s.Name}
	// Compilers write about five bytes of .eh_frame for each row.
	b := tableBuilder{Table: t, starts: make([]rowStart, 0, len(s.Data)/4)}
	if len(ranges) > 0 {
		t.base = ranges[0].Start
	}
	d := newDictionary(6*len(s.Data) + 16<<20)
	reexecutable := 4*len(s.Data) + 1<<20 // bytes of instructions that may be executed a second time
	var x cfi.Interpreter
	var f cfi.FDE
	for _, r := range ranges {
		if s.FDEAt(r.FDE, &f) != nil {
			continue
		}
		if f.Start < r.Start {
			// The FDE goes on after one that is nested in it.
			if reexecutable -= len(f.Instructions); reexecutable < 0 {
				b.add(r.Start, r.End, dropped)
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
	b.index(8*len(s.Data) + 1<<20) // enough blocks for 128 MiB of code, however sparse
	return t
}

// tableBuilder holds the rows of a table with their whole offsets.
type tableBuilder struct {
	*Table
	starts []rowStart
}

type rowStart struct{ offset, rules uint32 }

// add appends a row, which starts at or above the end of every earlier row.
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
		// The previous row ended here, in a gap.
		b.starts = b.starts[:n-1]
	}
	if n := len(b.starts); n == 0 || b.starts[n-1].rules != rules {
		b.starts = append(b.starts, rowStart{from, rules})
	}
	b.starts = append(b.starts, rowStart{to, 0})
}

// rank renumbers the rules by the number of rows that have them.
func (b *tableBuilder) rank(d *dictionary) {
	uses := make([]int, d.len())
	for _, r := range b.starts {
		if r.rules != dropped {
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
	change := func(rules *uint32) {
		if *rules != dropped {
			*rules = renumber[*rules]
		}
	}
	for i := range b.starts {
		change(&b.starts[i].rules)
	}
	for i := range b.far {
		change(&b.far[i].rules)
	}
}

// index puts the rows into blocks. The blocks take at most the given number of bytes;
// the remaining rows become far ones.
func (b *tableBuilder) index(spare int) {
	rows := b.starts
	blocks := 0
	if len(rows) > 0 {
		blocks = min(int(rows[len(rows)-1].offset>>blockShift)+1, spare/2)
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
		// The last row of the last block continues after it.
		b.far = append(b.far, farRow{b.base + uint64(blocks)<<blockShift, b.base + uint64(rows[0].offset), holds})
	}
	for i, r := range rows {
		if r.rules != 0 {
			b.far = append(b.far, farRow{b.base + uint64(r.offset), b.base + uint64(rows[i+1].offset), r.rules})
		}
	}
	slices.SortFunc(b.far, func(x, y farRow) int { return cmp.Compare(x.start, y.start) })
}

// dictionary holds each distinct set of rules once. A module of a million rows has about a
// thousand sets.
type dictionary struct {
	numbers map[string]uint32 // by key
	rules   [][]Rules         // by number, chunkSize in each; the first is a placeholder
	key     []byte
	spare   int // bytes left for more rules

	// recent holds numbers by a quick hash. A hostile input can make all rules share
	// one value.
	recent [1 << 12]uint32
}

// chunkSize bounds the rules that are copied as the dictionary grows.
const chunkSize = 256

// dropped is the number of rules above the limit, which were not kept.
const dropped = math.MaxUint32

func newDictionary(spare int) *dictionary {
	return &dictionary{numbers: make(map[string]uint32), rules: [][]Rules{make([]Rules, 1)}, spare: spare}
}

func (d *dictionary) len() int { return 1 + len(d.numbers) }

func (d *dictionary) at(n uint32) *Rules { return &d.rules[n/chunkSize][n%chunkSize] }

// number returns the number of a row's rules, and adds them if they are new. It returns
// dropped if they exceed the limit. All CIEs must be of one section.
func (d *dictionary) number(row *cfi.Row, cie *cfi.CIE) uint32 {
	recent := &d.recent[quickHash(row)%uint64(len(d.recent))]
	if n := *recent; n != 0 && d.at(n).are(row, cie) {
		return n
	}
	d.setKey(row, cie)
	n, ok := d.numbers[string(d.key)]
	if !ok {
		// 64 bytes for the entry in the map.
		d.spare -= int(unsafe.Sizeof(Rules{})) + len(row.Registers)*int(unsafe.Sizeof(cfi.RegisterRule{})) + len(d.key) + 64
		if d.spare < 0 {
			return dropped
		}
		if n = uint32(d.len()); n%chunkSize == 0 {
			d.rules = append(d.rules, make([]Rules, 0, chunkSize))
		}
		last := &d.rules[len(d.rules)-1]
		*last = append(*last, newRules(row, cie))
		d.numbers[string(d.key)] = n
	}
	*recent = n
	return n
}

func quickHash(row *cfi.Row) uint64 {
	const multiplier = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h := (uint64(row.CFA.Offset)<<8 + uint64(row.CFA.Register)) * multiplier
	for i := range row.Registers {
		r := &row.Registers[i]
		h = (h ^ uint64(r.Column)<<40 ^ uint64(r.Offset)) * multiplier
	}
	return h >> 32
}

// setKey makes the key from everything that are compares, except the section.
func (d *dictionary) setKey(row *cfi.Row, cie *cfi.CIE) {
	k := appendRule(d.key[:0], row.CFA)
	for i := range row.Registers {
		r := &row.Registers[i]
		k = appendRule(binary.LittleEndian.AppendUint32(k, r.Column), r.Rule)
	}
	k = binary.LittleEndian.AppendUint64(k, cie.ReturnAddress)
	d.key = append(k, flag(row.Signed), flag(cie.SignalFrame))
}

func appendRule(k []byte, r cfi.Rule) []byte {
	k = binary.LittleEndian.AppendUint64(append(k, byte(r.Kind)), uint64(r.Offset))
	return binary.LittleEndian.AppendUint32(k, r.Register)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
