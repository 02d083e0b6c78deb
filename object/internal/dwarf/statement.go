// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"math"
	"sort"
)

// sourceFile is the part of a unit's line table for one file, as gdb splits a table: rows
// of other files end a row, and rows that only repeat the line are left out. Steps and
// breakpoints of debuggers depend on this (gdb 13, dwarf2/read.c and buildsym.c).
type sourceFile struct {
	number  int // the first index in the table's files with the path
	path    string
	parts   []part
	entries []entryIndex
}

// part holds the entries of one sequence: from first on, up to the first of the next part.
type part struct{ sequence, first int32 }

// entryIndex is the index of a row, or its complement if the code from that row on belongs
// to another file.
type entryIndex int32

// atEnd is the end of the sequence.
const atEnd entryIndex = math.MinInt32

// sourceFiles splits the line table of a unit by files.
func (d *Data) sourceFiles(o *openUnit) []*sourceFile {
	if o.split {
		return o.sources
	}
	o.split = true
	t := &o.lines
	s := splitter{lineTable: t, byNumber: make(map[uint32]*sourceFile), byPath: make(map[string]*sourceFile)}
	s.open = func(number uint32) *sourceFile {
		path := d.fileName(o, int(number))
		file, ok := s.byPath[path]
		if !ok {
			file = &sourceFile{number: int(number), path: path}
			s.byPath[path] = file
			o.sources = append(o.sources, file)
		}
		return file
	}
	for i := range t.sequences {
		if q := &t.sequences[i]; q.high > q.low && (q.low != 0 || o.low == 0) {
			// Linkers move dropped code to 0.
			s.split(int32(i))
		}
	}
	return o.sources
}

type splitter struct {
	*lineTable
	byNumber map[uint32]*sourceFile
	byPath   map[string]*sourceFile
	open     func(number uint32) *sourceFile
}

func (s *splitter) file(number uint32) *sourceFile {
	if number >= uint32(len(s.files)) {
		return nil
	}
	file, ok := s.byNumber[number]
	if !ok {
		file = s.open(number)
		s.byNumber[number] = file
	}
	return file
}

func (s *splitter) split(sequence int32) {
	q := &s.sequences[sequence]
	var last *sourceFile // of the last row that was kept
	lastLine := uint32(0)
	offset, statement := int64(-1), false // statement: a row at offset begins a statement
	for i := q.first; i < q.end; i++ {
		r := &s.rows[i]
		here := r.has(isStatement)
		if file := s.file(uint32(r.file)); file != nil {
			changed := file != last
			// The end of a file here would remove a place for breakpoints.
			ignore := r.line() == 0 || changed && int64(r.offset) == offset && !here && statement
			if changed && !ignore {
				s.finishFile(last, sequence, ^entryIndex(i))
			}
			if !ignore && (changed || r.line() != lastLine || !r.has(discriminated)) {
				file.add(sequence, entryIndex(i))
				last, lastLine = file, r.line()
			}
		}
		if int64(r.offset) != offset {
			offset, statement = int64(r.offset), false
		}
		statement = statement || here
	}
	s.finishFile(last, sequence, atEnd)
}

func (s *sourceFile) add(sequence int32, e entryIndex) {
	if n := len(s.parts); n == 0 || s.parts[n-1].sequence != sequence {
		s.parts = append(s.parts, part{sequence, int32(len(s.entries))})
	}
	s.entries = append(s.entries, e)
}

// finishFile ends the last row of a file, and drops rows without code.
func (t *lineTable) finishFile(s *sourceFile, sequence int32, end entryIndex) {
	if s == nil || len(s.parts) == 0 || s.parts[len(s.parts)-1].sequence != sequence {
		return
	}
	n := len(s.parts)
	at, first := t.offset(sequence, end), int(s.parts[n-1].first)
	for len(s.entries) > first && t.offset(sequence, s.entries[len(s.entries)-1]) == at {
		s.entries = s.entries[:len(s.entries)-1]
	}
	if len(s.entries) == first {
		s.parts = s.parts[:n-1]
	} else if s.entries[len(s.entries)-1] >= 0 {
		s.entries = append(s.entries, end)
	}
}

// offset returns the distance of an entry from the start of its sequence.
func (t *lineTable) offset(sequence int32, e entryIndex) uint64 {
	switch {
	case e == atEnd:
		return t.sequences[sequence].high - t.sequences[sequence].low
	case e < 0:
		e = ^e
	}
	return uint64(t.rows[e].offset)
}

// address returns the address of entry k of s.
func (t *lineTable) address(s *sourceFile, k int) uint64 {
	p := s.parts[sort.Search(len(s.parts), func(i int) bool { return int(s.parts[i].first) > k })-1]
	return t.sequences[p.sequence].low + t.offset(p.sequence, s.entries[k])
}

// after returns the index of the first entry of s after addr.
func (t *lineTable) after(s *sourceFile, addr uint64) int {
	i := sort.Search(len(s.parts), func(i int) bool {
		p := s.parts[i]
		return t.sequences[p.sequence].low+t.offset(p.sequence, s.entries[p.first]) > addr
	})
	if i == 0 {
		return 0
	}
	first, end, sequence := int(s.parts[i-1].first), len(s.entries), s.parts[i-1].sequence
	if i < len(s.parts) {
		end = int(s.parts[i].first)
	}
	low := t.sequences[sequence].low
	return first + sort.Search(end-first, func(k int) bool { return low+t.offset(sequence, s.entries[first+k]) > addr })
}

// LineRange is the code from one row of a line table to the next.
type LineRange struct {
	Start, End   uint64
	File         string
	Line, Column int

	Statement, PrologueEnd bool
}

// lineRange returns the row at addr, up to the start of the next row of any file. If
// several files have rows at addr, the row with the nearest start counts. The file is nil if
// there is none.
func (t *lineTable) lineRange(files []*sourceFile, addr, high uint64) (r LineRange, of *sourceFile) {
	best := -1 // in of.entries
	next, later := uint64(0), uint64(0)
	for _, s := range files {
		if len(s.entries) == 0 {
			continue
		}
		if first := t.address(s, 0); first > addr && (later == 0 || first < later) {
			later = first
		}
		k := t.after(s, addr)
		if k > 0 && s.entries[k-1] >= 0 {
			if start := t.address(s, k-1); of == nil || start > r.Start {
				best, of, r.Start = t.statement(s, k-1), s, start
				if next <= start {
					next = 0
				}
			}
		}
		if of != nil && k < len(s.entries) {
			if start := t.address(s, k); start > r.Start && (next == 0 || start < next) {
				next = start
			}
		}
	}
	if of == nil {
		return r, nil
	}
	switch {
	case next != 0 && (later == 0 || next < later):
		r.End = next
	case later != 0:
		r.End = later
	default:
		r.End = high
	}
	at := &t.rows[of.entries[best]]
	r.File, r.Line, r.Column = of.path, int(at.line()), int(at.column)
	r.Statement, r.PrologueEnd = at.has(isStatement), at.has(prologueEnd)
	return r, of
}

// statement returns the last entry up to k that has the same address and begins a
// statement; k if there is none.
func (t *lineTable) statement(s *sourceFile, k int) int {
	at := t.address(s, k)
	for i := k; i >= 0 && s.entries[i] >= 0 && t.address(s, i) == at; i-- {
		if t.rows[s.entries[i]].has(isStatement) {
			return i
		}
	}
	return k
}

// lineAddresses appends the addresses of the statements of a line, in the order of the
// table. later is the nearest later line with statements, 0 if there is none.
func (t *lineTable) lineAddresses(s *sourceFile, line uint32, list []uint64) (addrs []uint64, later uint32) {
	for k, e := range s.entries {
		if e < 0 || !t.rows[e].has(isStatement) {
			continue
		}
		switch r := &t.rows[e]; {
		case r.line() == line:
			list = append(list, t.address(s, k))
		case r.line() > line && (later == 0 || r.line() < later):
			later = r.line()
		}
	}
	return list, later
}
