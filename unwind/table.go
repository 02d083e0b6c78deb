// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/clewdev/clew/cfi"
)

// Table holds every row of a section, compiled once: sorted 32-bit offsets and
// the numbers of distinct rules. It is not changed after Compile, and its
// methods may be called from several goroutines. It implements Source.
type Table struct {
	name string
	base uint64 // address that offsets are relative to

	// rows are sorted by offset, and each ends where the next starts; a row of
	// rule 0 covers a gap. buckets[i] is the number of rows that start below
	// offset i<<shift, so that a look-up searches a handful of rows, and the low
	// 16 bits of an offset are enough to do it.
	rows    []tableRow
	buckets []uint32
	shift   uint8

	far   []farRow // that end 4 GiB and more above base, or whose rules have a number above maxNear
	rules []Rules  // by number; the first is no rule
}

// tableRow is the low half of a row's offset, in the high half, and the number
// of its rules. Look-ups wait for memory above all, so four bytes it is.
type tableRow uint32

// maxNear is the last number of rules that a tableRow can hold.
const maxNear = 1<<16 - 1

// maxShift keeps a bucket within the 64 KiB that a tableRow can tell apart.
const maxShift = 16

type farRow struct {
	start, end uint64
	rules      uint32
}

// Compile compiles every FDE of a section. A malformed one costs only its rows
// from the fault on. Where FDEs overlap they count as in cfi.Index.
//
// Its memory is bounded by the section's size, whatever the section holds:
// rules that are too many are not kept, and Rules says so.
func Compile(s *cfi.Section) *Table {
	ranges := s.Index().Ranges()
	t := &Table{name: s.Name}
	b := tableBuilder{Table: t}
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
	t.rules = d.rules
	b.index()
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
	if end-b.base > math.MaxUint32 || rules > maxNear {
		b.far = append(b.far, farRow{start, end, rules})
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

// index packs the rows, and makes buckets that hold some four of them each.
func (b *tableBuilder) index() {
	if len(b.starts) == 0 {
		return
	}
	last := b.starts[len(b.starts)-1].offset
	for b.shift < maxShift && last>>b.shift > uint32(len(b.starts)/4) {
		b.shift++
	}
	b.rows = make([]tableRow, len(b.starts))
	b.buckets = make([]uint32, 0, last>>b.shift+2)
	for i, r := range b.starts {
		for uint32(len(b.buckets)) <= r.offset>>b.shift {
			b.buckets = append(b.buckets, uint32(i))
		}
		b.rows[i] = tableRow(r.offset<<16 | r.rules)
	}
	b.buckets = append(b.buckets, uint32(len(b.rows)))
}

// Rules returns the rules that hold at an address without load bias. It
// allocates nothing but the error of an address that no FDE covers.
func (t *Table) Rules(pc uint64) (*Rules, error) {
	switch n := t.find(pc); n {
	case 0:
		return nil, fmt.Errorf("%w in %s covers %#x", cfi.ErrNoFDE, t.name, pc)
	case noRoom:
		return nil, fmt.Errorf("%w: at %#x of %s", errNoRoom, pc, t.name)
	default:
		return &t.rules[n], nil
	}
}

var errNoRoom = errors.New("more distinct rules than a table of the section's size holds")

// find returns the number of the rules at an address.
func (t *Table) find(pc uint64) uint32 {
	offset := pc - t.base
	bucket := offset >> t.shift
	if pc < t.base || offset > math.MaxUint32 || bucket+1 >= uint64(len(t.buckets)) {
		return t.findFar(pc)
	}
	// The row sought starts in this bucket or is the last that starts before it.
	first, end := t.buckets[bucket], t.buckets[bucket+1]
	mask := uint32(1)<<t.shift - 1
	low := uint32(offset) & mask
	for end-first > 16 {
		if mid := (first + end) / 2; uint32(t.rows[mid]>>16)&mask <= low {
			first = mid + 1
		} else {
			end = mid
		}
	}
	// Of so few all are looked at: a branch that goes either way costs more.
	n := first
	for _, r := range t.rows[first:end] {
		if uint32(r>>16)&mask <= low {
			n++
		}
	}
	if n > 0 {
		if rules := uint32(t.rows[n-1]) & maxNear; rules != 0 {
			return rules
		}
	}
	return t.findFar(pc)
}

func (t *Table) findFar(pc uint64) uint32 {
	n := sort.Search(len(t.far), func(i int) bool { return t.far[i].start > pc })
	if n == 0 || pc >= t.far[n-1].end {
		return 0
	}
	return t.far[n-1].rules
}

// Len returns the number of rows and of distinct rules.
func (t *Table) Len() (rows, rules int) { return len(t.rows) + len(t.far), len(t.rules) - 1 }
