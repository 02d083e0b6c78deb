// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"cmp"
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
