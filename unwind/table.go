// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"cmp"
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

	far   []farRow // of addresses 4 GiB and more above base
	rules []Rules  // by number; the first is no rule
}

type tableRow struct{ offset, rules uint32 }

type farRow struct {
	start, end uint64
	rules      uint32
}

// Compile compiles every FDE of a section. A malformed one costs only its rows
// from the fault on. Where FDEs overlap the one that starts last counts, as
// with libgcc's binary search.
func Compile(s *cfi.Section) *Table {
	type fde struct{ start, end, offset uint64 }
	var fdes []fde
	for f := range s.FDEs() {
		if f.Start < f.End {
			fdes = append(fdes, fde{f.Start, f.End, f.Offset})
		}
	}
	slices.SortStableFunc(fdes, func(a, b fde) int { return cmp.Compare(a.start, b.start) })
	t := &Table{name: s.Name}
	d := newDictionary()
	d.rules = append(d.rules, Rules{})
	if len(fdes) > 0 {
		t.base = fdes[0].start
	}
	var x cfi.Interpreter
	var f cfi.FDE
	for i, e := range fdes {
		end := e.end
		if i+1 < len(fdes) {
			end = min(end, fdes[i+1].start)
		}
		if end == e.start || s.FDEAt(e.offset, &f) != nil {
			continue
		}
		for row := range x.Rows(&f) {
			if row.Start >= end {
				break
			}
			t.add(row.Start, min(row.End, end), d.number(row, f.CIE))
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
	if r := t.find(pc); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("%w in %s covers %#x", cfi.ErrNoFDE, t.name, pc)
}

func (t *Table) find(pc uint64) *Rules {
	offset := pc - t.base
	bucket := offset >> t.shift
	if pc < t.base || bucket+1 >= uint64(len(t.buckets)) {
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
	if low == 0 {
		return nil
	}
	if n := t.rows[low-1].rules; n != 0 {
		return &t.rules[n]
	}
	return t.findFar(pc)
}

func (t *Table) findFar(pc uint64) *Rules {
	if len(t.far) == 0 {
		return nil
	}
	n := sort.Search(len(t.far), func(i int) bool { return t.far[i].start > pc })
	if n == 0 || pc >= t.far[n-1].end {
		return nil
	}
	return &t.rules[t.far[n-1].rules]
}

// Len returns the number of rows and of distinct rules.
func (t *Table) Len() (rows, rules int) { return len(t.rows) + len(t.far), len(t.rules) - 1 }
