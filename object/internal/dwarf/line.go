// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/clewdev/clew/internal/dw"
)

// lineTable is the line table of a unit, by sequences.
type lineTable struct {
	dirs      []value
	files     []file
	sequences []sequence // by low
	rows      []row
}

type file struct {
	name value
	dir  uint32 // in dirs
}

// sequence is a run of ascending addresses.
type sequence struct {
	low, high  uint64
	first, end int32 // of its rows
}

// row assigns the code from its address up to that of the next row to a line. If several
// rows have one address, the last one counts.
type row struct {
	offset uint32 // from the sequence's low
	marked uint32 // the line in the low lineBits bits, and flags above it
	file   uint16
	column uint16
}

const (
	maxFiles = 1<<16 - 1 // in a table; the number maxFiles in a row means no file
	maxRows  = 1 << 30   // in a table
)

// lineBits is the number of bits of a line. Larger lines become 0, unknown.
const lineBits = 28

func (r *row) line() uint32 { return r.marked & (1<<lineBits - 1) }

func (r *row) has(f rowFlags) bool { return rowFlags(r.marked>>lineBits)&f != 0 }

type rowFlags uint8

const (
	isStatement   rowFlags = 1 << iota // DW_LNS_negate_stmt, default_is_stmt
	prologueEnd                        // DW_LNS_set_prologue_end
	discriminated                      // a row of this line had a discriminator other than 0
)

// find returns the line at addr; file is -1 if there is none.
func (t *lineTable) find(addr uint64) (file, line, column int) {
	i := sort.Search(len(t.sequences), func(i int) bool { return t.sequences[i].low > addr }) - 1
	for tries := 0; i >= 0 && tries < 16; i, tries = i-1, tries+1 {
		s := &t.sequences[i]
		if addr >= s.high {
			continue
		}
		rows := t.rows[s.first:s.end]
		offset := uint32(addr - s.low)
		k := sort.Search(len(rows), func(k int) bool { return rows[k].offset > offset }) - 1
		if k >= 0 {
			return int(rows[k].file), int(rows[k].line()), int(rows[k].column)
		}
	}
	return -1, 0, 0
}

// lineProgram is the header of a line number program (DWARF 5 §6.2.4), with the parameters
// of the state machine.
type lineProgram struct {
	c           cursor
	is64        bool
	version     uint16
	addressSize int
	program     uint64 // offset
	minLength   uint64
	maxOps      uint64
	lineBase    int64
	lineRange   uint8
	lengths     []byte   // of the standard opcodes' operands, from opcode 1
	flags       rowFlags // at the start of a sequence
}

// readLines decodes the line table of u. With an error come the rows before it.
func (d *Data) readLines(u *unit, r *root) (t lineTable, err error) {
	if r.line.class != sectionOffset {
		return t, nil
	}
	p := lineProgram{c: d.cursor(debugLine, u.source.Line), addressSize: u.addressSize}
	p.c.Bytes(r.line.u)
	p.header(u, r, &t)
	if p.c.Err != nil {
		return t, fmt.Errorf("line table: %w", p.c.Err)
	}
	t.files = t.files[:min(len(t.files), maxFiles)]
	// Several units may name one table: a budget bounds all tables together.
	d.rows -= 2 * (len(t.dirs) + len(t.files))
	if d.rows < 0 {
		return lineTable{}, errTooMuch
	}
	t.rows, t.sequences = d.lineBuffer.rows[:0], d.lineBuffer.sequences[:0]
	p.run(&t, min(d.rows, maxRows))
	d.lineBuffer.rows, d.lineBuffer.sequences = t.rows, t.sequences
	t.rows, t.sequences = slices.Clone(t.rows), slices.Clone(t.sequences)
	d.rows -= len(t.rows)
	slices.SortStableFunc(t.sequences, func(a, b sequence) int { return cmp.Compare(a.low, b.low) })
	if p.c.Err != nil {
		return t, fmt.Errorf("line table: %w", p.c.Err)
	}
	return t, nil
}

func (p *lineProgram) header(u *unit, r *root, t *lineTable) {
	c := &p.c
	n, is64 := c.length()
	if n > uint64(c.remain()) {
		c.fail("length %#x, %#x left", n, c.remain())
	}
	if c.Err != nil {
		return
	}
	c.End, p.is64 = c.Off+n, is64
	if p.version = c.Uint16(); c.Err == nil && (p.version < 2 || p.version > 5) {
		c.fail("version %d", p.version)
		return
	}
	if p.version >= 5 {
		p.addressSize = int(c.Uint8())
		c.Uint8() // segment_selector_size
	}
	n = c.offset(is64)
	if n > uint64(c.remain()) {
		c.fail("header of %#x bytes, %#x left", n, c.remain())
	}
	if c.Err != nil {
		return
	}
	p.program = c.Off + n
	p.minLength, p.maxOps = uint64(c.Uint8()), 1
	if p.version >= 4 {
		p.maxOps = max(1, uint64(c.Uint8()))
	}
	if c.Uint8() != 0 { // default_is_stmt
		p.flags = isStatement
	}
	p.lineBase, p.lineRange = int64(int8(c.Uint8())), c.Uint8()
	if base := c.Uint8(); base > 0 {
		p.lengths = c.Bytes(uint64(base) - 1)
	}
	if c.Err == nil && p.lineRange == 0 {
		c.fail("line_range is zero")
	}
	if c.Err != nil {
		return
	}
	if p.version >= 5 {
		p.entries(u, func(f file) { t.dirs = append(t.dirs, f.name) })
		p.entries(u, func(f file) { t.files = append(t.files, f) })
		return
	}
	t.dirs = append(t.dirs, r.dir)
	t.files = append(t.files, file{}) // files are counted from 1
	for c.Err == nil && c.remain() > 0 && c.Data[c.Off] != 0 {
		t.dirs = append(t.dirs, value{text, inLine, c.Off})
		c.skipString()
	}
	c.Uint8()
	for c.Err == nil && c.remain() > 0 && c.Data[c.Off] != 0 {
		f := file{name: value{text, inLine, c.Off}}
		c.skipString()
		f.dir = uint32(min(c.ULEB128(), 1<<31))
		c.ULEB128() // time of modification
		c.ULEB128() // size
		t.files = append(t.files, f)
	}
}

// entries reads the directories or the files of a version 5 header.
func (p *lineProgram) entries(u *unit, visit func(file)) {
	c := &p.c
	var formats []attribute
	for n := c.Uint8(); n > 0 && c.Err == nil; n-- {
		formats = append(formats, attribute{name: uint32(c.ULEB128()), form: uint32(c.ULEB128())})
	}
	count := c.ULEB128()
	reader := *u
	reader.is64, reader.version, reader.addressSize = p.is64, 5, p.addressSize
	for ; count > 0 && c.Err == nil; count-- {
		var f file
		start := c.Off
		for _, at := range formats {
			v := reader.read(c, at)
			switch at.name {
			case dw.LNCTPath:
				if v.where == inInfo {
					v.where = inLine // DW_FORM_string: here
				}
				f.name = v
			case dw.LNCTDirectoryIndex:
				f.dir = number(v)
			}
		}
		if c.Err == nil && c.Off == start {
			c.fail("%d entries without content", count)
		}
		if c.Err == nil {
			visit(f)
		}
	}
}

// state holds the registers of the state machine that rows need (DWARF 5 §6.2.2).
type state struct {
	address, op        uint64
	file, line, column uint64
	discriminator      uint64
	flags              rowFlags
}

// run executes the program until the table has most rows.
func (p *lineProgram) run(t *lineTable, most int) {
	c := &p.c
	c.Off = p.program
	start := state{file: 1, line: 1, flags: p.flags}
	s := start
	first := len(t.rows)
	for c.remain() > 0 && c.Err == nil {
		if len(t.rows) > most {
			c.fail("%v", errTooMuch)
			return
		}
		op := c.Data[c.Off]
		c.Off++
		if int(op) > len(p.lengths) { // special
			adjusted := op - uint8(len(p.lengths)) - 1
			p.advance(&s, uint64(adjusted/p.lineRange))
			s.advanceLine(p.lineBase + int64(adjusted%p.lineRange))
			t.emit(first, &s)
			continue
		}
		switch op {
		case dw.LNSExtended:
			n := c.ULEB128()
			if n == 0 || n > uint64(c.remain()) {
				c.fail("extended opcode of %d bytes, %d left", n, c.remain())
				return
			}
			end := c.Off + n
			switch c.Uint8() {
			case dw.LNEEndSequence:
				t.finish(first, &s)
				first, s = len(t.rows), start
			case dw.LNESetAddress:
				if size := int(n) - 1; size == 4 || size == 8 || size == 2 {
					s.address, s.op = c.sized(size), 0
				}
			case dw.LNESetDiscriminator:
				if s.discriminator = c.ULEB128(); s.discriminator != 0 {
					s.flags |= discriminated
				}
			}
			c.Off = end
		case dw.LNSCopy:
			t.emit(first, &s)
		case dw.LNSAdvancePC:
			p.advance(&s, c.ULEB128())
		case dw.LNSAdvanceLine:
			s.advanceLine(c.SLEB128())
		case dw.LNSSetFile:
			s.file = c.ULEB128()
		case dw.LNSSetColumn:
			s.column = c.ULEB128()
		case dw.LNSNegateStatement:
			s.flags ^= isStatement
		case dw.LNSSetBasicBlock, dw.LNSSetEpilogueBegin:
		case dw.LNSSetPrologueEnd:
			s.flags |= prologueEnd
		case dw.LNSConstAddPC:
			p.advance(&s, uint64((255-uint8(len(p.lengths))-1)/p.lineRange))
		case dw.LNSFixedAdvancePC:
			s.address, s.op = s.address+uint64(c.Uint16()), 0
		default:
			for n := p.lengths[op-1]; n > 0; n-- {
				c.ULEB128()
			}
		}
	}
}

func (p *lineProgram) advance(s *state, operations uint64) {
	if p.maxOps == 1 {
		s.address += p.minLength * operations
		return
	}
	n := s.op + operations
	s.address += p.minLength * (n / p.maxOps)
	s.op = n % p.maxOps
}

// advanceLine adds to the line. It resets discriminated unless the line stays the same.
func (s *state) advanceLine(by int64) {
	if s.line = uint64(int64(s.line) + by); by != 0 && s.discriminator == 0 {
		s.flags &^= discriminated
	}
}

// emit appends a row. It drops rows that go back in a sequence, or that are too far from
// its start for 32 bits.
func (t *lineTable) emit(first int, s *state) {
	if len(t.rows) == first {
		t.sequences = append(grown(t.sequences), sequence{low: s.address, first: int32(first)})
	}
	flags := s.flags
	s.flags, s.discriminator = s.flags&^prologueEnd, 0
	low := t.sequences[len(t.sequences)-1].low
	if s.address < low || s.address-low > 1<<32-1 {
		return
	}
	line := uint32(0) // unknown
	if s.line < 1<<lineBits {
		line = uint32(s.line)
	}
	r := row{
		offset: uint32(s.address - low), marked: line | uint32(flags)<<lineBits,
		file: uint16(min(s.file, 1<<16-1)), column: uint16(min(s.column, 1<<16-1)),
	}
	if n := len(t.rows); n == first || r.offset >= t.rows[n-1].offset {
		t.rows = append(grown(t.rows), r)
	}
}

// finish ends the sequence with the rows from first on.
func (t *lineTable) finish(first int, s *state) {
	if len(t.rows) == first {
		return
	}
	q := &t.sequences[len(t.sequences)-1]
	q.high, q.end = s.address, int32(len(t.rows))
	if q.high <= q.low {
		t.sequences, t.rows = t.sequences[:len(t.sequences)-1], t.rows[:first]
	}
}
