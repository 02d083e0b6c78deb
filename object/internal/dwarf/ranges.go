// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import "github.com/clewdev/clew/internal/dw"

// isList reports whether a value refers to a range list.
func (v value) isList() bool { return v.class == sectionOffset || v.class == rangesIndex }

// ranges calls visit with the parts [low, high) of an entry's extent until visit returns
// false. It skips empty ranges, and ranges whose code the linker has dropped.
func (d *Data) ranges(u *unit, r *root, s span, visit func(low, high uint64) bool) error {
	top := ^uint64(0) >> (64 - 8*u.addressSize)
	emit := func(low, high uint64) bool {
		// Linkers give dropped code the highest address, or the one below.
		if low >= high || low >= top-1 {
			return true
		}
		return visit(low, high)
	}
	if !s.ranges.isList() {
		low, ok := d.address(u, r, s.low)
		if !ok {
			return nil
		}
		high, ok := d.address(u, r, s.high)
		if s.high.class == constant {
			high, ok = low+s.high.u, true
		}
		if ok {
			emit(low, high)
		}
		return nil
	}
	if u.version < 5 {
		return d.ranges4(u, r.low, top, r.rangesBase+s.ranges.u, emit)
	}
	return d.ranges5(u, r, s.ranges, emit)
}

// ranges4 reads a list of .debug_ranges (DWARF 4 §2.17.3).
func (d *Data) ranges4(u *unit, base, top, offset uint64, emit func(low, high uint64) bool) error {
	c := d.cursor(debugRanges, u.source.Ranges)
	c.Bytes(offset)
	for c.Err == nil {
		if d.steps--; d.steps < 0 {
			return errTooMuch
		}
		low, high := c.sized(u.addressSize), c.sized(u.addressSize)
		switch {
		case c.Err != nil || low == 0 && high == 0:
			return c.Err
		case low == top:
			base = high
		case !emit((base+low)&top, (base+high)&top):
			return nil
		}
	}
	return c.Err
}

// ranges5 reads a list of .debug_rnglists (DWARF 5 §2.17.3).
func (d *Data) ranges5(u *unit, r *root, v value, emit func(low, high uint64) bool) error {
	c := d.cursor(u.source.section(debugRngLists), u.source.RngLists)
	offset := v.u + u.part.rnglists
	if v.class == rangesIndex {
		if v.u > uint64(len(c.Data)) {
			c.fail("index %d", v.u)
		}
		c.Bytes(r.rnglistsBase + v.u*u.offsetSize())
		offset = r.rnglistsBase + c.offset(u.is64)
		if c.Err != nil {
			return c.Err
		}
		c.Off = 0
	}
	c.Bytes(offset)
	base := r.low
	indexed := func() uint64 {
		a, ok := d.address(u, r, value{class: addressIndex, u: c.ULEB128()})
		if !ok {
			c.fail("address index out of the range of .debug_addr")
		}
		return a
	}
	for c.Err == nil {
		if d.steps--; d.steps < 0 {
			return errTooMuch
		}
		var low, high uint64
		switch kind := c.Uint8(); kind {
		case dw.RLEEndOfList:
			return c.Err
		case dw.RLEBaseAddressx:
			base = indexed()
			continue
		case dw.RLEStartxEndx:
			low, high = indexed(), indexed()
		case dw.RLEStartxLength:
			low = indexed()
			high = low + c.ULEB128()
		case dw.RLEOffsetPair:
			low, high = base+c.ULEB128(), base+c.ULEB128()
		case dw.RLEBaseAddress:
			base = c.sized(u.addressSize)
			continue
		case dw.RLEStartEnd:
			low, high = c.sized(u.addressSize), c.sized(u.addressSize)
		case dw.RLEStartLength:
			low = c.sized(u.addressSize)
			high = low + c.ULEB128()
		default:
			c.fail("range list entry of kind %#x", kind)
		}
		if c.Err == nil && !emit(low, high) {
			return nil
		}
	}
	return c.Err
}
