// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/internal/leb128"
)

// listing is a location list as seen from an address.
type listing struct {
	unit     *unit
	list, pc uint64
}

const (
	maxKept     = 1 << 12 // of what frames at the same addresses ask for again, of each kind
	maxKeptSize = 256     // bytes of an expression
)

// kept returns what was kept in one of an Info's maps.
func kept[K comparable, V any](i *Info, known *map[K]V, key K) (v V, ok bool) {
	i.known.RLock()
	v, ok = (*known)[key]
	i.known.RUnlock()
	return v, ok
}

// keep keeps what was found in one of an Info's maps, and returns it. Frames of many
// threads are at the same addresses: what they need seldom is too much to be kept.
func keep[K comparable, V any](i *Info, known *map[K]V, key K, v V) V {
	i.known.Lock()
	defer i.known.Unlock()
	if len(*known) >= maxKept || *known == nil {
		*known = make(map[K]V)
	}
	(*known)[key] = v
	return v
}

// listOffset returns the offset in .debug_loclists of the list with an index of
// a unit (DWARF 5 §7.29).
func (i *Info) listOffset(u *unit, index uint64) (uint64, error) {
	if _, err := i.root(u); err != nil {
		return 0, err
	}
	c := newCursor(faults(".debug_loclists"), i.locations(u), i.machine.Order)
	size := uint64(4)
	if u.is64 {
		size = 8
	}
	if index > uint64(len(c.Data)) {
		return 0, fmt.Errorf("%w: .debug_loclists: list %d", ErrDebugInfo, index)
	}
	c.seek(u.loclistsBase + index*size)
	off := u.loclistsBase + c.offset(u.is64)
	return off, c.Err
}

// indexed returns entry n of a unit in .debug_addr (DWARF 5 §7.27).
func (i *Info) indexedAddress(u *unit, n uint64) (uint64, error) {
	if _, err := i.root(u); err != nil {
		return 0, err
	}
	c := newCursor(faults(".debug_addr"), i.addresses, i.machine.Order)
	if n > uint64(len(c.Data)) {
		return 0, fmt.Errorf("%w: .debug_addr: address %d", ErrDebugInfo, n)
	}
	c.seek(u.addrBase + n*uint64(u.width))
	a := c.Uint(u.width)
	return a, c.Err
}

// listEntry is one of a location list: what the location is at the addresses of the
// file in [low, high).
type listEntry struct {
	low, high  uint64
	isDefault  bool   // it is so at all addresses that the others do not have
	expression []byte // a view of the section
}

// listed returns the expression that a location list has for an address of the
// file; ok is false where it has none. The expression is a view of the section.
func (i *Info) listed(u *unit, offset, pc uint64) (expression []byte, ok bool, err error) {
	for entry, err := range i.entries(u, offset) {
		switch {
		case err != nil:
			return nil, false, err
		case entry.isDefault:
			expression, ok = entry.expression, true
		case pc >= entry.low && pc < entry.high:
			return entry.expression, true, nil
		}
	}
	return expression, ok, nil
}

// entries visits the entries of a location list. With an error it ends.
func (i *Info) entries(u *unit, offset uint64) iter.Seq2[listEntry, error] {
	return func(yield func(listEntry, error) bool) {
		_, err := i.root(u)
		switch {
		case err != nil:
		case u.version >= 5:
			err = i.entries5(u, offset, yield)
		case u.header != nil && u.header.Split:
			err = i.entriesSplit(u, offset, yield)
		default:
			err = i.entries4(u, offset, yield)
		}
		if err != nil {
			yield(listEntry{}, err)
		}
	}
}

// entries4 reads a list of .debug_loc (DWARF 4 §2.6.2).
func (i *Info) entries4(u *unit, offset uint64, yield func(listEntry, error) bool) error {
	c := newCursor(faults(".debug_loc"), i.locations(u), i.machine.Order)
	c.seek(offset)
	base, highest := u.base, ^uint64(0)>>(64-8*u.width)
	for c.Err == nil {
		low, high := c.Uint(u.width), c.Uint(u.width)
		switch {
		case low == 0 && high == 0:
			return c.Err
		case low == highest:
			base = high
			continue
		}
		b := c.Bytes(c.Uint(2))
		if c.Err == nil && !yield(listEntry{low: base + low, high: base + high, expression: b}, nil) {
			return nil
		}
	}
	return c.Err
}

// entries5 reads a list of .debug_loclists (DWARF 5 §2.6.2).
func (i *Info) entries5(u *unit, offset uint64, yield func(listEntry, error) bool) error {
	c := newCursor(faults(".debug_loclists"), i.locations(u), i.machine.Order)
	c.seek(offset)
	base := u.base
	indexed := func() (a uint64) {
		a, err := i.indexedAddress(u, c.ULEB128())
		if err != nil && c.Err == nil {
			c.Err = err
		}
		return a
	}
	for c.Err == nil {
		var entry listEntry
		kind := c.Uint(1)
		if c.Err != nil || kind == dw.LLEEndOfList {
			return c.Err
		}
		switch kind {
		case dw.LLEBaseAddressx:
			base = indexed()
			continue
		case dw.LLEBaseAddress:
			base = c.Uint(u.width)
			continue
		case dw.LLEGNUViewPair:
			c.ULEB128()
			c.ULEB128()
			continue
		case dw.LLEStartxEndx:
			entry.low, entry.high = indexed(), indexed()
		case dw.LLEStartxLength:
			entry.low = indexed()
			entry.high = entry.low + c.ULEB128()
		case dw.LLEOffsetPair:
			entry.low, entry.high = base+c.ULEB128(), base+c.ULEB128()
		case dw.LLEStartEnd:
			entry.low, entry.high = c.Uint(u.width), c.Uint(u.width)
		case dw.LLEStartLength:
			entry.low = c.Uint(u.width)
			entry.high = entry.low + c.ULEB128()
		case dw.LLEDefaultLocation:
			entry.isDefault = true
		default:
			c.fail("entry of kind %d", kind)
			return c.Err
		}
		entry.expression = c.Bytes(c.ULEB128())
		if c.Err == nil && !yield(entry, nil) {
			return nil
		}
	}
	return c.Err
}

// entriesSplit reads a list of .debug_loc.dwo.
func (i *Info) entriesSplit(u *unit, offset uint64, yield func(listEntry, error) bool) error {
	c := newCursor(faults(".debug_loc.dwo"), i.locations(u), i.machine.Order)
	c.seek(offset)
	indexed := func() (a uint64) {
		a, err := i.indexedAddress(u, c.ULEB128())
		if err != nil && c.Err == nil {
			c.Err = err
		}
		return a
	}
	for c.Err == nil {
		var entry listEntry
		switch kind := c.Uint(1); {
		case c.Err != nil || kind == dw.LLEGNUEndOfList:
			return c.Err
		case kind == dw.LLEGNUBaseAddress:
			indexed() // which the entries here do not use
			continue
		case kind == dw.LLEGNUStartEnd:
			entry.low, entry.high = indexed(), indexed()
		case kind == dw.LLEGNUStartLength:
			entry.low = indexed()
			entry.high = entry.low + c.Uint(4)
		default:
			c.fail("entry of kind %d", kind)
			return c.Err
		}
		entry.expression = c.Bytes(c.Uint(2))
		if c.Err == nil && !yield(entry, nil) {
			return nil
		}
	}
	return c.Err
}

// locations returns the section with the location lists of a unit.
func (i *Info) locations(u *unit) []byte {
	if u.lists == nil && u.header != nil {
		u.lists = i.reader.Lists(u.header)
	}
	return u.lists
}

// cursor reads a section front to back.
type cursor struct{ leb128.Cursor }

// faults makes the errors of a cursor over what it names.
type faults string

// Fault implements leb128.Source.
func (name faults) Fault(offset uint64, err error) error {
	return fmt.Errorf("%w: %s+%#x: %w", ErrDebugInfo, string(name), offset, err)
}

func newCursor(source leb128.Source, data []byte, order binary.ByteOrder) cursor {
	return cursor{leb128.Cursor{Data: data, End: uint64(len(data)), Big: order == binary.BigEndian, Source: source}}
}

func (c *cursor) fail(format string, args ...any) { c.Fail(fmt.Errorf(format, args...)) }

// seek moves to an offset of the section.
func (c *cursor) seek(off uint64) {
	if off > c.End {
		c.fail("offset %#x in %#x bytes", off, c.End)
		return
	}
	c.Off = off
}

// offset reads an offset of the 32-bit or 64-bit format.
func (c *cursor) offset(is64 bool) uint64 {
	if is64 {
		return c.Uint(8)
	}
	return c.Uint(4)
}
