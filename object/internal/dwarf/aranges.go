// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import "slices"

// leastAranges is what the set of a unit takes at least where addresses have 64 bits,
// bytes: its head, and the pair that ends it.
const leastAranges = 32

// readAranges reads from .debug_aranges which units have code where (DWARF 5 §6.1.2), so
// that no header of a unit is read before it is needed. The section is a hint. Code that
// it lacks is found by indexRest. Code that it assigns to a wrong unit is not found. If an
// entry names bytes that only look like a unit, the result depends on earlier lookups.
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
		if past := int(set.Off-start) % (2 * width); past > 0 {
			set.Bytes(uint64(2*width - past))
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
