// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// splitName is the name of a split unit's file in its skeleton unit.
type splitName struct{ name, directory string }

// splitFile is a file with split units.
type splitFile struct {
	sources []*source
	err     error
}

// openSplit finds the split unit of a skeleton (DWARF 5 §3.1.3). Without the split unit
// only the lines are known, and the functions that clang leaves in the skeleton.
func (d *Data) openSplit(o *openUnit) error {
	o.codeRoot = o.root
	if o.root.split.class == other {
		return nil
	}
	code, err := d.splitUnit(o)
	if errors.Is(err, ErrNotSought) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("split unit: %w", err)
	}
	if code.skeleton != nil && code.skeleton != o {
		return fmt.Errorf("split unit %016x belongs to the unit at %#x too", code.id, code.skeleton.unit.start)
	}
	code.skeleton = o
	root, err := d.readRoot(code)
	if err != nil {
		return err
	}
	o.code, o.codeRoot = code, root
	return nil
}

// splitUnit looks for the split unit of a skeleton in the package of split
// units, then in the file that the skeleton names.
func (d *Data) splitUnit(o *openUnit) (*unit, error) {
	id := o.unit.id
	if o.unit.version < 5 {
		if o.root.id.class != constant {
			return nil, errors.New("the unit that names its file has no ID")
		}
		id = o.root.id.u
	}
	code, packageErr := d.packagedUnit(id, false)
	if code != nil {
		return code, nil
	}
	name := splitName{
		string(d.text(o.unit, &o.root, o.root.split)),
		string(d.text(o.unit, &o.root, o.root.dir)),
	}
	file, ok := d.splits[name]
	if !ok {
		file = &splitFile{}
		file.sources, file.err = d.openSplitFile(name)
		d.splits[name] = file
	}
	if file.err != nil {
		return nil, errors.Join(packageErr, file.err)
	}
	var other uint64
	for _, src := range file.sources {
		for _, u := range d.unitsOf(src) {
			if u.typeUnit {
				continue
			}
			if u.version < 5 {
				r, err := d.readRoot(u)
				if err != nil {
					return nil, err
				}
				u.id = r.id.u
			}
			if u.id == id {
				return u, nil
			}
			other = u.id
		}
	}
	return nil, fmt.Errorf("%s: its ID is %016x, %016x expected: it belongs to another build", name.name, other, id)
}

func (d *Data) openSplitFile(name splitName) ([]*source, error) {
	if d.files == nil {
		return nil, ErrNotSought
	}
	if name.name == "" {
		return nil, errors.New("a file without name")
	}
	s, err := d.files.Split(name.name, name.directory)
	if err != nil {
		return nil, err
	}
	if len(s.Info) == 0 || len(s.Abbrev) == 0 {
		return nil, fmt.Errorf("%s: no .debug_info.dwo", name.name)
	}
	return d.addFile(len(d.sources), d.linked(s), true), nil
}

// linked adds the sections that stay in the linked file to those of a file with split
// units: addresses, and the range lists of DWARF 4.
func (d *Data) linked(s Sections) Sections {
	s.Addr, s.Ranges = d.sources[0].Addr, d.sources[0].Ranges
	return s
}

// setDefaults sets the bases that a split unit omits: its part of each section starts with
// the header of the only table there (DWARF 5 §7.26, §7.28, §7.29). The sections of DWARF 4
// have no headers.
func (u *unit) setDefaults(r *root) {
	if !u.source.split {
		return
	}
	r.strOffsetsBase, r.rnglistsBase, r.loclistsBase = u.part.strOffsets, u.part.rnglists, u.part.locations
	if u.version < 5 {
		return
	}
	longer := 2 * (u.offsetSize() - 4) // in the 64-bit format
	r.strOffsetsBase += 8 + longer
	r.rnglistsBase += 12 + longer
	r.loclistsBase += 12 + longer
}

// inherit sets the attributes that a split unit takes from its skeleton.
func (u *unit) inherit(r *root) {
	if u.skeleton == nil {
		return
	}
	from := &u.skeleton.root
	r.low, r.addrBase, r.rangesBase = from.low, from.addrBase, from.splitRangesBase
	r.dir, r.line = from.dir, from.line
}

// contribution holds the starts of a unit's parts of the sections in a package of split
// units, from the unit's row in the index.
type contribution struct {
	info, size uint64 // of the unit itself
	abbrev     uint64
	strOffsets uint64
	locations  uint64 // .debug_loc or .debug_loclists
	rnglists   uint64
}

// Sections of an index, DWARF 5 Table 7.1. GNU's index for DWARF 4, version 2, adds the
// number for .debug_types.
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
		d.grow(s, len(info))
		return d.addSource(len(d.sources), s, info, types, true, tables)
	}
	d.packaged = add(s.Info, false)
	if len(s.Types) > 0 {
		d.packagedTypes = add(s.Types[0], true)
	}
	return d.packaged, nil
}

// packagedUnit returns the split unit with an ID, or the type unit with a signature; nil if
// the package does not have it.
func (d *Data) packagedUnit(id uint64, isType bool) (*unit, error) {
	src, err := d.openPackage()
	switch {
	case src == nil:
		return nil, err
	case !isType:
		return d.indexedUnit(src, debugCUIndex, src.CUIndex, id)
	case d.packagedTypes != nil:
		src = d.packagedTypes
	}
	return d.indexedUnit(src, debugTUIndex, src.TUIndex, id)
}

// indexedUnit returns the unit that an index has for an ID, nil if there is none.
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
	own := u.id
	if u.typeUnit {
		own = u.signature
	}
	if own != id && (u.typeUnit || u.version >= 5) {
		return nil, fmt.Errorf("%s: unit at %#x has the ID %016x, %016x expected", section, u.start, own, id)
	}
	u.id = id
	// An offset in two overlapping units would be found in one of them only.
	if k > 0 && src.units[k-1].end > u.start || k < len(src.units) && src.units[k].start < u.end {
		return nil, fmt.Errorf("%s: unit at %#x overlaps another", section, u.start)
	}
	src.units = slices.Insert(src.units, k, u)
	return u, nil
}

// find looks up an ID in an index of units (DWARF 5 §7.3.5.3).
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
