// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"unsafe"

	"github.com/clewdev/clew/cfi"
)

// Table holds every row of a section, compiled once into a form in which a
// look-up reads one cache line and takes no branch that could go either way. It
// is not changed after Compile, and its methods may be called from several
// goroutines. It implements Source.
type Table struct {
	name  string
	base  uint64   // address that offsets are relative to
	pages []uint32 // by 1<<pageShift bytes of code: the number of the first of its lines
	lines []line
	spill []uint16 // numbers of rules that have no room in their line

	far   []farRow // what lines do not hold: see add and index
	size  int      // rows in lines, without the gaps
	rules []Rules  // by number; the first is no rule
}

// line is 1<<lineShift bytes of code, in a cache line.
type line struct {
	starts [lineSize / 64]uint64 // a bit a byte of code: set where a row starts
	spill  uint32                // where in Table.spill the rules are that follow the ones here
	rules  [14]uint16            // that hold where the line starts, then those of each row; 0 is a gap
}

const (
	lineShift = 8
	lineSize  = 1 << lineShift
	pageShift = 10
	pageLines = 1 << (pageShift - lineShift)
	maxNear   = 1<<16 - 1 // the last number of rules that a line can hold
)

// farRow is a row that is searched for.
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
	b.index(8*len(s.Data) + 16<<20)
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

// index puts the rows into lines. The rows behind those that use up the room
// for pages and lines, in bytes, become far ones.
func (b *tableBuilder) index(room int) {
	rows := b.starts
	if len(rows) > 0 {
		pages := int(rows[len(rows)-1].offset>>pageShift) + 1
		b.pages = make([]uint32, 0, min(pages, room/8))
		room -= 4 * cap(b.pages)
	}
	holds := uint32(0)
	constant := make(map[uint32]uint32) // the first line of pages without a start, by what holds there
	for len(rows) > 0 && len(b.pages) < cap(b.pages) &&
		(len(b.lines)+pageLines)*int(unsafe.Sizeof(line{})) <= room {
		page := uint32(len(b.pages))
		n := 0
		for n < len(rows) && rows[n].offset>>pageShift == page {
			n++
		}
		first, known := constant[holds]
		if n > 0 || !known {
			first = uint32(len(b.lines))
			if n == 0 {
				constant[holds] = first
			}
			for i := range uint32(pageLines) {
				holds = b.line(page<<pageShift+i<<lineShift, holds, rows[:n])
			}
		}
		b.pages = append(b.pages, first)
		rows = rows[n:]
	}
	b.lines = slices.Clip(b.lines)
	if len(rows) > 0 && holds != 0 {
		// The row that the last page leaves goes on.
		b.far = append(b.far, farRow{b.base + uint64(len(b.pages))<<pageShift, b.base + uint64(rows[0].offset), holds})
	}
	for i, r := range rows {
		if r.rules != 0 {
			b.far = append(b.far, farRow{b.base + uint64(r.offset), b.base + uint64(rows[i+1].offset), r.rules})
		}
	}
	slices.SortFunc(b.far, func(x, y farRow) int { return cmp.Compare(x.start, y.start) })
}

// line appends the line at an offset, with those of some rows that start in it,
// and returns what holds behind it.
func (b *tableBuilder) line(offset, holds uint32, rows []rowStart) uint32 {
	l := line{spill: uint32(len(b.spill))}
	l.rules[0] = uint16(holds)
	n := 1
	for _, r := range rows {
		at := r.offset - offset
		if at >= lineSize {
			continue
		}
		l.starts[at/64] |= 1 << (at % 64)
		if n < len(l.rules) {
			l.rules[n] = uint16(r.rules)
		} else {
			b.spill = append(b.spill, uint16(r.rules))
		}
		holds = r.rules
		n++
		if holds != 0 {
			b.size++
		}
	}
	b.lines = append(b.lines, l)
	return holds
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
	if offset>>pageShift >= uint64(len(t.pages)) {
		return t.findFar(pc)
	}
	l := &t.lines[uint64(t.pages[offset>>pageShift])+offset>>lineShift%pageLines]
	// How many rows start in the line up to the address.
	at := int(offset%lineSize) + 1
	n := bits.OnesCount64(l.starts[0]&low(at)) + bits.OnesCount64(l.starts[1]&low(at-64)) +
		bits.OnesCount64(l.starts[2]&low(at-128)) + bits.OnesCount64(l.starts[3]&low(at-192))
	var rules uint16
	if n < len(l.rules) {
		rules = l.rules[n]
	} else {
		rules = t.spill[int(l.spill)+n-len(l.rules)]
	}
	if rules != 0 {
		return uint32(rules)
	}
	return t.findFar(pc)
}

// low returns a mask of the n lowest bits: none below 0, all from 64 on.
func low(n int) uint64 { return 1<<uint(max(n, 0)) - 1 }

func (t *Table) findFar(pc uint64) uint32 {
	n := sort.Search(len(t.far), func(i int) bool { return t.far[i].start > pc })
	if n == 0 || pc >= t.far[n-1].end {
		return 0
	}
	return t.far[n-1].rules
}

// Len returns the number of rows, of which equal ones that meet are one, and
// of distinct rules.
func (t *Table) Len() (rows, rules int) { return t.size + len(t.far), len(t.rules) - 1 }
