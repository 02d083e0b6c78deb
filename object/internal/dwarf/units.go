// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
)

// A C library has thousands of units, and a stack needs a few dozen. If .debug_aranges has
// the starts of units, headers are read one by one until a caller needs all units, so that
// the pages of other units are not touched.

// unitsOf returns all units of a source, by start.
func (d *Data) unitsOf(src *source) []*unit {
	if src.starts != nil {
		d.readUnits(src)
	}
	return src.units
}

// readUnits reads the headers of all units. An invalid header costs its unit; an invalid
// length ends the list.
func (d *Data) readUnits(src *source) {
	if uint64(len(src.Info)) >= 1<<sourceBits {
		d.note(fmt.Errorf("%s: %d bytes", src.section(debugInfo), len(src.Info)))
		return
	}
	c := d.cursor(src.section(debugInfo), src.Info)
	var list []unit
	defer func() {
		src.units = make([]*unit, len(list))
		for i := range list {
			src.units[i] = &list[i]
			if met := src.met[list[i].start]; met != nil {
				src.units[i] = met
			}
		}
		src.starts, src.met = nil, nil
	}()
	for c.remain() > 0 && c.Err == nil {
		u := unit{source: src, start: c.Off}
		n, is64 := c.length()
		if c.Err == nil && n > uint64(c.remain()) {
			u.cut = fmt.Errorf("%s at %#x: unit of %#x bytes, %#x left", c.section(), u.start, n, c.remain())
			d.note(u.cut)
			n = uint64(c.remain())
		}
		if c.Err != nil {
			break
		}
		u.is64, u.end = is64, c.Off+n
		if n == 0 {
			continue
		}
		if err := d.readHeader(&u, c.Off); err != nil {
			d.note(err)
		} else {
			list = append(list, u)
		}
		c.Off = u.end
	}
	if c.Err != nil {
		d.note(c.Err)
	}
}

// readUnit returns the unit that starts at an offset, nil if no whole unit does.
func (d *Data) readUnit(src *source, start uint64) *unit {
	if u, ok := src.met[start]; ok {
		return u
	}
	if start >= uint64(len(src.Info)) || uint64(len(src.Info)) >= 1<<sourceBits {
		return nil
	}
	c := d.cursor(src.section(debugInfo), src.Info)
	c.Off = start
	u := &unit{source: src, start: start}
	n, is64 := c.length()
	u.is64, u.end = is64, c.Off+n
	if c.Err != nil || n == 0 || n > uint64(c.remain()) || d.readHeader(u, c.Off) != nil {
		u = nil
	}
	if src.met == nil {
		src.met = make(map[uint64]*unit)
	}
	src.met[start] = u
	return u
}

// unitStartingAt returns the unit of the first source that starts at an offset, nil if
// there is none or it is a type unit, which has no code.
func (d *Data) unitStartingAt(start uint64) *unit {
	src := d.sources[0]
	var u *unit
	if src.starts != nil {
		u = d.readUnit(src, start)
	} else if i, ok := slices.BinarySearchFunc(src.units, start, func(u *unit, start uint64) int {
		return cmp.Compare(u.start, start)
	}); ok {
		u = src.units[i]
	}
	if u == nil || u.typeUnit {
		return nil
	}
	return u
}

// maxUnitsPassed bounds the headers that are read to find the unit of an offset.
const maxUnitsPassed = 64

// unitAt returns the unit that contains the entry at an offset, nil if there is none.
func (d *Data) unitAt(offset uint64) *unit {
	src := d.sourceAt(offset)
	if src == nil {
		return nil
	}
	offset &= 1<<sourceBits - 1
	if src.starts != nil {
		if u := d.nearUnit(src, offset); u != nil {
			return u
		}
	}
	units := d.unitsOf(src)
	i := sort.Search(len(units), func(i int) bool { return units[i].start > offset })
	if i == 0 || offset < units[i-1].first || offset >= units[i-1].end {
		return nil
	}
	return units[i-1]
}

// nearUnit looks for the unit that contains an offset, from the nearest known start of a
// unit at or before it. It returns nil if there are too many units between.
func (d *Data) nearUnit(src *source, offset uint64) *unit {
	next := sort.Search(len(src.starts), func(i int) bool { return src.starts[i] > offset })
	limit := uint64(len(src.Info))
	if next < len(src.starts) {
		limit = src.starts[next]
	}
	at := src.starts[next-1] // the first is 0
	for range maxUnitsPassed {
		u := d.readUnit(src, at)
		if u == nil || u.end > limit {
			return nil // the next start of .debug_aranges would be inside of a unit
		}
		if offset < u.end {
			if offset < u.first {
				return nil
			}
			return u
		}
		at = u.end
	}
	return nil
}

// leastAranges is the smallest size in bytes of a unit's set with 64-bit addresses: its
// header, and the pair that ends it.
const leastAranges = 32

// readAranges reads the code of units from .debug_aranges (DWARF 5 §6.1.2), so that no
// header of a unit is read before it is needed. The section is a hint. indexRest finds the
// code that it lacks. Code that it assigns to a wrong unit is not found. If an entry names
// bytes that only look like a unit, the result depends on earlier lookups.
func (d *Data) readAranges(src *source) {
	first := d.readUnit(src, 0)
	if first == nil {
		return
	}
	src.starts = make([]uint64, 1, 1+len(src.Aranges)/leastAranges)
	d.index = make([]unitRange, 0, min(len(src.Aranges)/(2*first.addressSize), d.records))
	defer func() {
		slices.Sort(src.starts)
		src.starts = slices.Compact(src.starts)
	}()
	c := d.cursor(debugAranges, src.Aranges)
	for c.remain() > 0 && c.Err == nil {
		start := c.Off
		n, is64 := c.length()
		if c.Err != nil || n > uint64(c.remain()) {
			return
		}
		set := c
		set.End = c.Off + n
		c.Off = set.End
		version := set.Uint16()
		info := set.offset(is64)
		width, segment := int(set.Uint8()), set.Uint8()
		if set.Err != nil || version != 2 || segment != 0 || width != first.addressSize || info >= uint64(len(src.Info)) {
			continue
		}
		src.starts = append(src.starts, info)
		// The first pair is aligned to the size of one, relative to the set.
		if excess := int(set.Off-start) % (2 * width); excess > 0 {
			set.Bytes(uint64(2*width - excess))
		}
		for set.Err == nil {
			low, size := set.sized(width), set.sized(width)
			if set.Err != nil || low == 0 && size == 0 {
				break
			}
			if d.records--; d.records < 0 {
				return
			}
			if high := low + size; high > low {
				d.index = append(d.index, unitRange{low, high, info})
			}
		}
	}
}

// Files opens other files with parts of the debugging information. A method is called once
// for the same arguments, when the file is first needed.
type Files interface {
	// Supplementary opens the file to which dwz moved the parts that several files share
	// (DWARF 5 §7.3.6).
	Supplementary() (Sections, error)
	// Package opens the file with many split units, .dwp: its sections include an index of
	// units (DWARF 5 §7.3.5). It returns no sections if there is no such file.
	Package() (Sections, error)
	// Split opens the file with split units, .dwo, that a skeleton unit names. The unit was
	// compiled in a directory (DWARF 5 §7.3.2).
	Split(name, directory string) (Sections, error)
}

// ErrNotSought means that Files has no directories in which to look for other files.
var ErrNotSought = errors.New("other files were not looked for")

// source is a section of units, with the sections that they refer to.
type source struct {
	Sections
	number int
	types  bool                      // the section is .debug_types
	split  bool                      // of a file with split units
	units  []*unit                   // by start: see Data.unitsOf
	tables map[uint64]*abbreviations // shared by the sources of one file

	// Until all units are read: the starts of units with code by .debug_aranges, ascending
	// and not changed, and the units read so far, nil for an invalid start. Then nil.
	starts []uint64
	met    map[uint64]*unit

	lists     []byte // the location lists, if listsRead is set
	listsRead bool
}

// The bits of an Offset from sourceBits on are the number of its source.
const (
	sourceBits          = 40
	supplementaryNumber = 1 // the main section of units is 0
)

func (s *source) base() uint64 { return uint64(s.number) << sourceBits }

// addSource makes a source of a section of units. Its headers are not read.
func (d *Data) addSource(number int, s Sections, info []byte, types, split bool, tables map[uint64]*abbreviations) *source {
	s.Info = info
	src := &source{Sections: s, number: number, types: types, split: split, tables: tables}
	for len(d.sources) <= number {
		d.sources = append(d.sources, nil)
	}
	d.sources[number] = src
	return src
}

// addFile adds the sources of another file, whose size raises the limits of reading.
func (d *Data) addFile(number int, s Sections, split bool) (list []*source) {
	size := len(s.Info) + len(s.RngLists)
	for _, t := range s.Types {
		size += len(t)
	}
	d.grow(s, size)
	// gcc writes a section for each type unit, and all refer to the same table.
	tables := make(map[uint64]*abbreviations)
	add := func(number int, info []byte, types bool) {
		src := d.addSource(number, s, info, types, split, tables)
		d.readUnits(src)
		list = append(list, src)
	}
	add(number, s.Info, false)
	for _, info := range s.MoreInfo {
		add(len(d.sources), info, false)
	}
	for _, types := range s.Types {
		add(len(d.sources), types, true)
	}
	return list
}

// grow raises the limits of reading for more sections.
func (d *Data) grow(s Sections, size int) {
	d.size += size
	d.steps += 16 * size
	d.texts += 32 * size
	d.abbrevBudget += len(s.Abbrev)
	d.records += size / 4
	d.bytes += len(s.Str) + size
}

// sourceAt returns the source of an offset, nil if there is none. It opens the
// supplementary file at the first offset in it.
func (d *Data) sourceAt(offset uint64) *source {
	number := offset >> sourceBits
	if number == supplementaryNumber {
		return d.supplementary()
	}
	if number >= uint64(len(d.sources)) {
		return nil
	}
	return d.sources[number]
}

func (d *Data) supplementary() *source {
	if d.supplementaryTried {
		return d.sources[supplementaryNumber]
	}
	d.supplementaryTried = true
	if d.files == nil {
		return nil
	}
	s, err := d.files.Supplementary()
	if err == nil && len(s.Info) == 0 && len(s.Str) == 0 {
		err = errors.New("no .debug_info")
	}
	if errors.Is(err, ErrNotSought) {
		return nil
	}
	if err != nil {
		d.missing = fmt.Errorf("supplementary file: %w", err)
		return nil
	}
	d.addFile(supplementaryNumber, s, false)
	return d.sources[supplementaryNumber]
}

// section returns the name of a section in the file of s.
func (s *source) section(name sectionName) sectionName {
	if s.types && name == debugInfo {
		name = debugTypes
	}
	if s.split {
		name |= inSplit
	}
	return name
}
