// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"errors"
	"fmt"
	"math"
	"slices"
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
	// offset i<<shift, so that a look-up searches a handful of rows.
	rows    []tableRow
	buckets []uint32
	shift   uint8

	far   []farRow // that end 4 GiB and more above base
	rules []Rules  // by number; the first is no rule
}

type tableRow struct{ offset, rules uint32 }

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
				t.add(max(row.Start, r.Start), min(row.End, r.End), d.number(row, f.CIE))
			}
		}
	}
	t.rules = d.rules
	t.index()
	return t
}

// add appends a row that starts at or above the end of all before it.
func (t *Table) add(start, end uint64, rules uint32) {
	if end-t.base > math.MaxUint32 {
		t.far = append(t.far, farRow{start, end, rules})
		return
	}
	from, to := uint32(start-t.base), uint32(end-t.base)
	if n := len(t.rows); n > 0 && t.rows[n-1].offset == from {
		// The row before ended here, in a gap.
		t.rows = t.rows[:n-1]
	}
	if n := len(t.rows); n == 0 || t.rows[n-1].rules != rules {
		t.rows = append(t.rows, tableRow{from, rules})
	}
	t.rows = append(t.rows, tableRow{to, 0})
}

func (t *Table) index() {
	t.rows = slices.Clip(t.rows)
	if len(t.rows) == 0 {
		return
	}
	last := t.rows[len(t.rows)-1].offset
	for last>>t.shift > uint32(len(t.rows)) {
		t.shift++
	}
	t.buckets = make([]uint32, 0, last>>t.shift+2)
	for i, r := range t.rows {
		for uint32(len(t.buckets)) <= r.offset>>t.shift {
			t.buckets = append(t.buckets, uint32(i))
		}
	}
	t.buckets = append(t.buckets, uint32(len(t.rows)))
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
	low, high := t.buckets[bucket], t.buckets[bucket+1]
	for low < high {
		mid := (low + high) / 2
		if uint64(t.rows[mid].offset) <= offset {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low > 0 && t.rows[low-1].rules != 0 {
		return t.rows[low-1].rules
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
