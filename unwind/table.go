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

// Table holds every row of a section, compiled once: sorted offsets and the
// numbers of distinct rules, packed so that a look-up touches little memory,
// which is what it waits for. It is not changed after Compile, and its methods
// may be called from several goroutines. It implements Source.
type Table struct {
	name string
	base uint64 // address that offsets are relative to

	// rows are sorted by offset, and each ends where the next starts.
	// blocks[i] is the number of rows that start before the i-th 64 KiB, and
	// buckets[i] how many of its block's rows start before offset i<<shift, so
	// that a look-up searches a handful of rows.
	rows    []tableRow
	blocks  []uint32
	buckets []uint16
	shift   uint8

	far   []farRow // that end 4 GiB and more above base, or whose rules have a number above maxNear
	rules []Rules  // by number; the first is no rule
}

// tableRow is, in the high half, where in its block a row starts, and in the
// low half the number of its rules. Rules 0 cover a gap.
type tableRow uint32

const (
	blockShift = 16
	maxNear    = 1<<16 - 1 // the last number of rules that a tableRow can hold
)

type farRow struct {
	start, end uint64
	rules      uint32
}

// Compile compiles every FDE of a section. A malformed one costs only its rows
// from the fault on. Where FDEs overlap they count as in cfi.Index.
//
// Its memory and time are bounded by the section's size, whatever the section
// holds: rules that are too many are not kept, and Rules says so.
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

// rowsPerBucket is how many rows a bucket holds on average.
const rowsPerBucket = 1

// index packs the rows, and counts them by blocks and buckets.
func (b *tableBuilder) index() {
	if len(b.starts) == 0 {
		return
	}
	last := b.starts[len(b.starts)-1].offset
	for b.shift < blockShift && last>>b.shift > uint32(len(b.starts)/rowsPerBucket) {
		b.shift++
	}
	b.rows = make([]tableRow, len(b.starts))
	b.blocks = make([]uint32, last>>blockShift+2)
	// Whole blocks, and one bucket behind them.
	b.buckets = make([]uint16, uint64(len(b.blocks)-1)<<(blockShift-b.shift)+1)
	next := 0
	for i := range b.buckets {
		bucket := uint64(i) << b.shift
		for next < len(b.starts) && uint64(b.starts[next].offset) < bucket {
			b.rows[next] = tableRow(b.starts[next].offset<<16 | b.starts[next].rules)
			next++
		}
		if bucket&(1<<blockShift-1) == 0 {
			b.blocks[bucket>>blockShift] = uint32(next)
		}
		b.buckets[i] = uint16(uint32(next) - b.blocks[bucket>>blockShift])
	}
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

var errNoRoom = errors.New("more than a table of the section's size holds")

// find returns the number of the rules at an address.
func (t *Table) find(pc uint64) uint32 {
	offset := pc - t.base
	bucket := offset >> t.shift
	if pc < t.base || bucket >= uint64(max(len(t.buckets), 1)-1) {
		return t.findFar(pc)
	}
	// The row sought starts in this bucket or is the last that starts before it.
	perBlock := blockShift - t.shift
	first := t.blocks[bucket>>perBlock] + uint32(t.buckets[bucket])
	end := t.blocks[(bucket+1)>>perBlock] + uint32(t.buckets[bucket+1])
	key := tableRow(offset<<16 | maxNear)
	for end-first > 8 {
		if mid := (first + end) / 2; t.rows[mid] <= key {
			first = mid + 1
		} else {
			end = mid
		}
	}
	// Of so few all are looked at: a branch that goes either way costs more.
	n := first
	for _, r := range t.rows[first:end] {
		if r <= key {
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
