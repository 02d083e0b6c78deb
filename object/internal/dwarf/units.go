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

// A file like a C library's has thousands of units, and a stack meets some dozen. With
// the starts of units from .debug_aranges, headers are read one by one and the pages of
// other units are not touched, until a caller needs all units.

// unitsOf returns all units of a source, by start.
func (d *Data) unitsOf(src *source) []*unit {
	if src.starts != nil {
		d.readUnits(src)
	}
	return src.units
}

// readUnits reads the headers of all units. A unit that cannot be read ends
// the list only where its length cannot be trusted.
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

// readUnit reads one header, of a whole unit. It returns nil where there is none.
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

// unitStartingAt returns the unit of the first source that begins at an offset, nil
// where none does that can have code.
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

// maxUnitsPassed is how many headers are read to find the one unit that holds an offset.
const maxUnitsPassed = 64

// unitAt returns the unit that holds an offset of an entry.
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

// nearUnit looks for the unit that holds an offset from the nearest one before that is
// known to begin somewhere. It returns nil where there are too many between.
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
			return nil // or else the next one does not begin where it is said to
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
