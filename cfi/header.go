// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"

	"github.com/clewdev/clew/arch"
)

// Header is an .eh_frame_hdr section: a sorted table of the start and the FDE of each
// function (LSB Core, "The .eh_frame_hdr section"). Concurrent use is allowed.
type Header struct {
	Address uint64 // of the section's first byte, without load bias

	EHFrameEncoding Encoding
	CountEncoding   Encoding
	TableEncoding   Encoding

	EHFrame Pointer // address of .eh_frame
	Count   uint64  // entries in the table; 0 without a table

	s     Section // name, bytes, machine; DataBase is the header's own address
	table uint64  // offset of the table in s.Data
	size  uint64  // bytes of one entry; 0 if their sizes vary
}

// HeaderEntry is one entry of the table. Addresses are without load bias.
type HeaderEntry struct {
	Start uint64 // of the function
	FDE   uint64 // address of the FDE
}

// ParseHeader reads the .eh_frame_hdr in data, at an address without load bias. The Header
// refers to data. An error is an [*Error]. The Header is never nil. After an error it contains
// the readable part.
func ParseHeader(data []byte, address uint64, m *arch.Machine) (*Header, error) {
	h := &Header{Address: address,
		s: Section{Name: ".eh_frame_hdr", Data: data, Address: address, Machine: m, DataBase: address}}
	c := h.cursor(0)
	version := c.Uint8()
	if c.Err == nil && version != 1 {
		c.Off = 0
		c.fail(ErrHeader, "version %d, expected 1", version)
	}
	h.EHFrameEncoding, h.CountEncoding, h.TableEncoding = Encoding(c.Uint8()), Encoding(c.Uint8()), Encoding(c.Uint8())
	if h.EHFrameEncoding != EncOmit {
		h.EHFrame = c.pointer(h.EHFrameEncoding, 0, false)
	}
	if c.Err == nil && h.CountEncoding != EncOmit && h.TableEncoding != EncOmit {
		h.Count = c.pointer(h.CountEncoding, 0, false).Address
		h.table = c.Off
		h.size = 2 * h.TableEncoding.size(c.width)
		// An entry has at least two bytes.
		if left := c.End - c.Off; c.Err == nil && h.Count > left/max(h.size, 2) {
			c.fail(ErrHeader, "a table of %d entries in %d bytes", h.Count, left)
			h.Count = left / max(h.size, 2)
		}
		if first := h.cursor(h.table); h.Count > 0 {
			// If the first entry cannot be decoded, none can.
			if first.pointer(h.TableEncoding, 0, false); first.Err != nil {
				h.Count = 0
				return h, first.Err
			}
		}
	}
	return h, c.Err
}

func (h *Header) cursor(offset uint64) cursor {
	return h.s.cursor(offset, uint64(len(h.s.Data)))
}

// size returns the size of a pointer in bytes, or 0 if it varies.
func (e Encoding) size(width int) uint64 {
	if e&encApplication == EncAligned {
		return 0
	}
	switch e & encForm {
	case EncAbsptr, EncSigned:
		return uint64(width)
	case EncUdata2, EncSdata2:
		return 2
	case EncUdata4, EncSdata4:
		return 4
	case EncUdata8, EncSdata8:
		return 8
	}
	return 0
}

// entry decodes entry i of a table with entries of one size.
func (h *Header) entry(i uint64) HeaderEntry {
	c := h.cursor(h.table + i*h.size)
	return h.next(&c)
}

func (h *Header) next(c *cursor) HeaderEntry {
	return HeaderEntry{c.pointer(h.TableEncoding, 0, false).Address, c.pointer(h.TableEncoding, 0, false).Address}
}

// Entries yields the entries of the table in order. It ends with an error at an entry that
// cannot be decoded.
func (h *Header) Entries() iter.Seq2[HeaderEntry, error] {
	return func(yield func(HeaderEntry, error) bool) {
		c := h.cursor(h.table)
		for range h.Count {
			e := h.next(&c)
			if c.Err != nil {
				e = HeaderEntry{}
			}
			if !yield(e, c.Err) || c.Err != nil {
				return
			}
		}
	}
}

// Searchable reports whether Find is a binary search: there is a table with entries of one
// size.
func (h *Header) Searchable() bool { return h.Count > 0 && h.size > 0 }

// Find returns the entry with the highest start at or below an address (without load bias), by
// binary search if all entries have one size, else by linear search. The function may end before
// the address: see the FDE. Find returns false if there is no such entry or no table. It
// allocates nothing.
func (h *Header) Find(pc uint64) (HeaderEntry, bool) {
	if h.size > 0 {
		n := sort.Search(int(h.Count), func(i int) bool { return h.entry(uint64(i)).Start > pc })
		if n == 0 {
			return HeaderEntry{}, false
		}
		return h.entry(uint64(n - 1)), true
	}
	var found HeaderEntry
	ok := false
	for e, err := range h.Entries() {
		if err == nil && e.Start <= pc && (!ok || e.Start >= found.Start) {
			found, ok = e, true
		}
	}
	return found, ok
}

// Check yields an error for each difference between the table and the section: another address
// of .eh_frame, unsorted entries, entries without an FDE or with one that has another start, FDEs
// without an entry. If there is no table, it checks only the address.
func (h *Header) Check(s *Section) iter.Seq[error] {
	return func(yield func(error) bool) { h.check(s, yield) }
}

func (h *Header) check(s *Section, yield func(error) bool) {
	if h.EHFrameEncoding != EncOmit && h.EHFrame.Address != s.Address &&
		!yield(fmt.Errorf("%w: %s at %#x, expected %#x", ErrHeader, s.Name, h.EHFrame.Address, s.Address)) {
		return
	}
	if h.Count == 0 && (h.CountEncoding == EncOmit || h.TableEncoding == EncOmit) {
		return
	}
	var f FDE
	var previous HeaderEntry
	i, listed := 0, make(map[uint64]struct{}, h.Count)
	for e, err := range h.Entries() {
		switch {
		case err != nil:
		case i > 0 && e.Start < previous.Start:
			err = fmt.Errorf("%w: entry %d starts at %#x, before entry %d at %#x", ErrHeader, i, e.Start, i-1, previous.Start)
		default:
			listed[e.FDE-s.Address] = struct{}{}
			if err = s.FDEAt(e.FDE-s.Address, &f); err != nil {
				err = fmt.Errorf("%w: entry %d: %w", ErrHeader, i, err)
			} else if f.Start != e.Start {
				err = fmt.Errorf("%w: entry %d starts at %#x, its FDE at %#x", ErrHeader, i, e.Start, f.Start)
			}
		}
		if err != nil && !yield(err) {
			return
		}
		previous, i = e, i+1
	}
	for f := range s.FDEs() {
		if _, ok := listed[f.Offset]; !ok && f.End > f.Start {
			if !yield(fmt.Errorf("%w: no entry for the FDE at %#x, for [%#x, %#x)", ErrHeader, f.Offset, f.Start, f.End)) {
				return
			}
		}
	}
}

// AppendHeader appends to dst the .eh_frame_hdr of the entries written so far, for a header at
// an address. It contains the sorted table that libgcc, gdb and perf search, with four-byte
// values relative to the header. After an error, an [*Error], dst is returned unchanged. The
// error wraps ErrRange if code or .eh_frame is too far away, and ErrHeader for a .debug_frame.
func (e *Encoder) AppendHeader(dst []byte, address uint64) ([]byte, error) {
	if e.Kind != EHFrame || e.Machine == nil {
		return dst, &Error{e.name(), 0, fmt.Errorf("%w: expected an .eh_frame with a Machine", ErrHeader)}
	}
	h := Header{Address: address, EHFrame: Pointer{Address: e.Address},
		EHFrameEncoding: EncPCRel | EncSdata4, CountEncoding: EncUdata4, TableEncoding: EncDataRel | EncSdata4}
	if !slices.IsSortedFunc(e.functions, byStart) {
		slices.SortStableFunc(e.functions, byStart)
	}
	return h.Append(dst, e.Machine, e.functions)
}

func byStart(a, b HeaderEntry) int { return cmp.Compare(a.Start, b.Start) }

// headerSections saves Append an allocation, because jitdumps have a header for each function.
var headerSections = sync.Pool{New: func() any { return new(Encoder) }}

// Append appends to dst an .eh_frame_hdr for a machine, with the address, encodings and pointer
// to .eh_frame of h, and with a table of the entries, which must be sorted by start. After an
// error, an [*Error], dst is returned unchanged. The error wraps ErrRange if an entry does not
// fit the encoding, and ErrHeader if the entries are not sorted.
func (h *Header) Append(dst []byte, m *arch.Machine, entries []HeaderEntry) ([]byte, error) {
	section := headerSections.Get().(*Encoder)
	defer func() {
		*section = Encoder{}
		headerSections.Put(section)
	}()
	*section = Encoder{Machine: m, Address: h.Address - uint64(len(dst)), DataBase: h.Address, Data: dst, called: ".eh_frame_hdr"}
	w := writer{Encoder: section, width: m.AddressSize, big: m.Order == binary.BigEndian}
	w.uint8(1)
	w.uint8(uint8(h.EHFrameEncoding))
	w.uint8(uint8(h.CountEncoding))
	w.uint8(uint8(h.TableEncoding))
	if h.EHFrameEncoding != EncOmit {
		w.pointer(h.EHFrameEncoding, h.EHFrame, 0, false)
	}
	if h.CountEncoding != EncOmit && h.TableEncoding != EncOmit {
		w.pointer(h.CountEncoding, Pointer{Address: uint64(len(entries))}, 0, false)
		for i := range entries {
			if i > 0 && entries[i].Start < entries[i-1].Start {
				w.fail(ErrHeader, "entry %d starts at %#x, before the previous one at %#x", i, entries[i].Start, entries[i-1].Start)
			}
			w.pointer(h.TableEncoding, Pointer{Address: entries[i].Start}, 0, false)
			w.pointer(h.TableEncoding, Pointer{Address: entries[i].FDE}, 0, false)
			if w.err != nil {
				break
			}
		}
	}
	if w.err != nil {
		return dst, w.err
	}
	return section.Data, nil
}
