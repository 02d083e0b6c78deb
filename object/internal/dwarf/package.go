// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"fmt"
	"slices"
	"sort"
)

// contribution is where the parts of the sections start that a unit in a package
// of split units has, by the row of the index for it.
type contribution struct {
	info, size uint64 // the unit itself
	abbrev     uint64
	strOffsets uint64
	locations  uint64 // .debug_loc or .debug_loclists
	rnglists   uint64
}

// Sections of an index, DWARF 5 Table 7.1. GNU's index for DWARF 4, of version 2,
// has the same numbers but for that of .debug_types.
const (
	sectInfo       = 1
	sectTypes      = 2
	sectAbbrev     = 3
	sectLocations  = 5
	sectStrOffsets = 6
	sectRngLists   = 8
)

// openPackage opens the package of split units, once.
func (d *Data) openPackage() (*source, error) {
	if d.packageTried || d.files == nil {
		return d.packaged, d.packageErr
	}
	d.packageTried = true
	s, err := d.files.Package()
	if err != nil || len(s.CUIndex) == 0 && len(s.TUIndex) == 0 {
		d.packageErr = err
		return nil, err
	}
	s = d.linked(s)
	tables := make(map[uint64]*abbreviations)
	add := func(info []byte, types bool) *source {
		src := &source{Sections: s, number: len(d.sources), types: types, split: true, tables: tables}
		src.Info = info
		d.sources = append(d.sources, src)
		d.grow(s, len(info))
		return src
	}
	d.packaged = add(s.Info, false)
	if len(s.Types) > 0 {
		d.packagedTypes = add(s.Types[0], true)
	}
	return d.packaged, nil
}

// packagedUnit returns the split unit with an ID, nil where the package does not
// have it.
func (d *Data) packagedUnit(id uint64) (*unit, error) {
	src, err := d.openPackage()
	if src == nil {
		return nil, err
	}
	return d.indexedUnit(src, debugCUIndex, src.CUIndex, id)
}

// packagedType returns the type unit with a signature, nil where the package
// does not have it.
func (d *Data) packagedType(signature uint64) (*unit, error) {
	src, err := d.openPackage()
	if src == nil {
		return nil, err
	}
	if d.packagedTypes != nil {
		src = d.packagedTypes
	}
	return d.indexedUnit(src, debugTUIndex, src.TUIndex, signature)
}

// indexedUnit reads the header of the unit that an index has for an ID.
func (d *Data) indexedUnit(src *source, section sectionName, index []byte, id uint64) (*unit, error) {
	part, ok, err := d.find(section, index, id)
	if !ok || err != nil {
		return nil, err
	}
	k := sort.Search(len(src.units), func(k int) bool { return src.units[k].start >= part.info })
	if k < len(src.units) && src.units[k].start == part.info {
		return src.units[k], nil
	}
	c := d.cursor(src.section(debugInfo), src.Info)
	c.Bytes(part.info)
	n, is64 := c.length()
	if n > uint64(c.remain()) || n > part.size {
		c.fail("unit of %#x bytes, the index has %#x, %#x left", n, part.size, c.remain())
	}
	if c.Err != nil {
		return nil, c.Err
	}
	u := &unit{source: src, start: part.info, end: c.Off + n, is64: is64, part: part}
	if err := d.readHeader(u, c.Off); err != nil {
		return nil, err
	}
	if known := u.id; u.typeUnit || u.version >= 5 && !u.typeUnit {
		if u.typeUnit {
			known = u.signature
		}
		if known != id {
			return nil, fmt.Errorf("%s: unit at %#x has the ID %016x, %016x expected", section, u.start, known, id)
		}
	}
	u.id = id
	// Parts that overlap would be found by offset in one of them only.
	if k > 0 && src.units[k-1].end > u.start || k < len(src.units) && src.units[k].start < u.end {
		return nil, fmt.Errorf("%s: unit at %#x overlaps another", section, u.start)
	}
	src.units = slices.Insert(src.units, k, u)
	return u, nil
}

// find looks an ID up in an index of units (DWARF 5 §7.3.5.3).
func (d *Data) find(section sectionName, index []byte, id uint64) (part contribution, ok bool, err error) {
	c := d.cursor(section, index)
	version := c.Uint32()
	if version != 2 {
		c.Off = 0
		version = uint32(c.Uint16()) // padding follows
		c.Uint16()
	}
	if c.Err == nil && version != 2 && version != 5 {
		c.fail("version %d", version)
	}
	columns, units, slots := uint64(c.Uint32()), uint64(c.Uint32()), uint64(c.Uint32())
	if slots == 0 || c.Err != nil {
		return part, false, c.Err
	}
	left := uint64(c.remain())
	if slots&(slots-1) != 0 || columns > 16 || slots > left/12 || units > left || 12*slots+4*columns+8*units*columns > left {
		c.fail("%d slots and %d units of %d sections in %#x bytes", slots, units, columns, left)
		return part, false, c.Err
	}
	start := c.Off
	word := func(off uint64) uint64 { return uint64(d.order.Uint32(index[uint64(start)+off:])) }
	row := uint64(0)
	slot, step := id&(slots-1), (id>>32)&(slots-1)|1
	for range slots {
		signature, n := d.order.Uint64(index[uint64(start)+8*slot:]), word(8*slots+4*slot)
		if n == 0 {
			return part, false, nil
		}
		if signature == id {
			row = n
			break
		}
		slot = (slot + step) & (slots - 1)
	}
	if row == 0 || row > units {
		return part, false, nil
	}
	headers := 12 * slots
	offsets := headers + 4*columns*row // row 0 is the headers
	for k := range columns {
		offset := word(offsets + 4*k)
		switch word(headers + 4*k) {
		case sectInfo, sectTypes:
			part.info, part.size = offset, word(offsets+4*columns*units+4*k)
		case sectAbbrev:
			part.abbrev = offset
		case sectLocations:
			part.locations = offset
		case sectStrOffsets:
			part.strOffsets = offset
		case sectRngLists:
			part.rnglists = offset
		}
	}
	return part, true, nil
}
