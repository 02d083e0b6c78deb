// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/internal/leb128"
)

// listOffset returns the offset in .debug_loclists of a list of u (DWARF 5 §7.29).
func (r *Reader) listOffset(u *Unit, index uint64) (uint64, error) {
	if _, err := r.Root(u); err != nil {
		return 0, err
	}
	c := NewCursor(SectionName(".debug_loclists"), r.locations(u), r.Machine.Order)
	size := uint64(4)
	if u.is64 {
		size = 8
	}
	if index > uint64(len(c.Data)) {
		return 0, fmt.Errorf("%w: .debug_loclists: list %d", ErrDamaged, index)
	}
	c.seek(u.LoclistsBase + index*size)
	off := u.LoclistsBase + c.offset(u.is64)
	return off, c.Err
}

// IndexedAddress returns entry n of u in .debug_addr (DWARF 5 §7.27).
func (r *Reader) IndexedAddress(u *Unit, n uint64) (uint64, error) {
	if _, err := r.Root(u); err != nil {
		return 0, err
	}
	c := NewCursor(SectionName(".debug_addr"), r.Addresses, r.Machine.Order)
	if n > uint64(len(c.Data)) {
		return 0, fmt.Errorf("%w: .debug_addr: address %d", ErrDamaged, n)
	}
	c.seek(u.AddrBase + n*uint64(u.Width))
	a := c.Uint(u.Width)
	return a, c.Err
}

// indexed reads an index into .debug_addr, and returns the address there.
func (r *Reader) indexed(u *Unit, c *Cursor) uint64 {
	a, err := r.IndexedAddress(u, c.ULEB128())
	if err != nil && c.Err == nil {
		c.Err = err
	}
	return a
}

// ListEntry is an entry of a location list: the location at the addresses [Low, High) of the
// file.
type ListEntry struct {
	Low, High  uint64
	IsDefault  bool   // it holds at all addresses that no other entry has
	Expression []byte // a view of the section
}

// Listed returns the expression of a location list at an address of the file. ok is false
// where there is none. The expression is a view of the section.
func (r *Reader) Listed(u *Unit, offset, pc uint64) (expression []byte, ok bool, err error) {
	for entry, err := range r.Entries(u, offset) {
		switch {
		case err != nil:
			return nil, false, err
		case entry.IsDefault:
			expression, ok = entry.Expression, true
		case pc >= entry.Low && pc < entry.High:
			return entry.Expression, true, nil
		}
	}
	return expression, ok, nil
}

// Entries yields the entries of a location list. An error ends it.
func (r *Reader) Entries(u *Unit, offset uint64) iter.Seq2[ListEntry, error] {
	return func(yield func(ListEntry, error) bool) {
		_, err := r.Root(u)
		switch {
		case err != nil:
		case u.Version >= 5:
			err = r.entries5(u, offset, yield)
		case u.Header != nil && u.Header.Split:
			err = r.entriesSplit(u, offset, yield)
		default:
			err = r.entries4(u, offset, yield)
		}
		if err != nil {
			yield(ListEntry{}, err)
		}
	}
}

// entries4 reads a list of .debug_loc (DWARF 4 §2.6.2).
func (r *Reader) entries4(u *Unit, offset uint64, yield func(ListEntry, error) bool) error {
	c := r.listCursor(".debug_loc", u, offset)
	base, highest := u.Base, ^uint64(0)>>(64-8*u.Width)
	for c.Err == nil {
		low, high := c.Uint(u.Width), c.Uint(u.Width)
		switch {
		case low == 0 && high == 0:
			return c.Err
		case low == highest:
			base = high
			continue
		}
		b := c.Bytes(c.Uint(2))
		if c.Err == nil && !yield(ListEntry{Low: base + low, High: base + high, Expression: b}, nil) {
			return nil
		}
	}
	return c.Err
}

// entries5 reads a list of .debug_loclists (DWARF 5 §2.6.2).
func (r *Reader) entries5(u *Unit, offset uint64, yield func(ListEntry, error) bool) error {
	c := r.listCursor(".debug_loclists", u, offset)
	base := u.Base
	for c.Err == nil {
		var entry ListEntry
		kind := c.Uint(1)
		if c.Err != nil || kind == dw.LLEEndOfList {
			return c.Err
		}
		switch kind {
		case dw.LLEBaseAddressx:
			base = r.indexed(u, &c)
			continue
		case dw.LLEBaseAddress:
			base = c.Uint(u.Width)
			continue
		case dw.LLEGNUViewPair:
			c.ULEB128()
			c.ULEB128()
			continue
		case dw.LLEStartxEndx:
			entry.Low, entry.High = r.indexed(u, &c), r.indexed(u, &c)
		case dw.LLEStartxLength:
			entry.Low = r.indexed(u, &c)
			entry.High = entry.Low + c.ULEB128()
		case dw.LLEOffsetPair:
			entry.Low, entry.High = base+c.ULEB128(), base+c.ULEB128()
		case dw.LLEStartEnd:
			entry.Low, entry.High = c.Uint(u.Width), c.Uint(u.Width)
		case dw.LLEStartLength:
			entry.Low = c.Uint(u.Width)
			entry.High = entry.Low + c.ULEB128()
		case dw.LLEDefaultLocation:
			entry.IsDefault = true
		default:
			c.failf("entry of kind %d", kind)
			return c.Err
		}
		entry.Expression = c.Bytes(c.ULEB128())
		if c.Err == nil && !yield(entry, nil) {
			return nil
		}
	}
	return c.Err
}

// entriesSplit reads a list of .debug_loc.dwo.
func (r *Reader) entriesSplit(u *Unit, offset uint64, yield func(ListEntry, error) bool) error {
	c := r.listCursor(".debug_loc.dwo", u, offset)
	for c.Err == nil {
		var entry ListEntry
		switch kind := c.Uint(1); {
		case c.Err != nil || kind == dw.LLEGNUEndOfList:
			return c.Err
		case kind == dw.LLEGNUBaseAddress:
			r.indexed(u, &c) // the entries of this section do not use it
			continue
		case kind == dw.LLEGNUStartEnd:
			entry.Low, entry.High = r.indexed(u, &c), r.indexed(u, &c)
		case kind == dw.LLEGNUStartLength:
			entry.Low = r.indexed(u, &c)
			entry.High = entry.Low + c.Uint(4)
		default:
			c.failf("entry of kind %d", kind)
			return c.Err
		}
		entry.Expression = c.Bytes(c.Uint(2))
		if c.Err == nil && !yield(entry, nil) {
			return nil
		}
	}
	return c.Err
}

// listCursor returns a cursor at an offset of the section with the location lists of a unit.
func (r *Reader) listCursor(name SectionName, u *Unit, offset uint64) Cursor {
	c := NewCursor(name, r.locations(u), r.Machine.Order)
	c.seek(offset)
	return c
}

// locations returns the section with the location lists of a unit.
func (r *Reader) locations(u *Unit) []byte {
	if u.Lists == nil && u.Header != nil {
		u.Lists = r.reader.Lists(u.Header)
	}
	return u.Lists
}

// Cursor reads a section from its start to its end.
type Cursor struct{ leb128.Cursor }

// SectionName is the name of a section in the errors of a Cursor.
type SectionName string

// Fault implements leb128.Source.
func (name SectionName) Fault(offset uint64, err error) error {
	return fmt.Errorf("%w: %s+%#x: %w", ErrDamaged, string(name), offset, err)
}

// NewCursor returns a cursor at the start of a section.
func NewCursor(source leb128.Source, data []byte, order binary.ByteOrder) Cursor {
	return Cursor{leb128.Cursor{Data: data, End: uint64(len(data)), Big: order == binary.BigEndian, Source: source}}
}

// failf sets the error of the cursor.
func (c *Cursor) failf(format string, args ...any) { c.Fail(fmt.Errorf(format, args...)) }

// seek moves to an offset of the section.
func (c *Cursor) seek(off uint64) {
	if off > c.End {
		c.failf("offset %#x in %#x bytes", off, c.End)
		return
	}
	c.Off = off
}

// offset reads an offset of the 32-bit or 64-bit format.
func (c *Cursor) offset(is64 bool) uint64 {
	if is64 {
		return c.Uint(8)
	}
	return c.Uint(4)
}
