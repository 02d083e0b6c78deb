// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"errors"
	"fmt"
)

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
	// gcc writes each type unit into a section of its own; all name the same table.
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
