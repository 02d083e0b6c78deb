// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"fmt"
	"iter"
	"sort"

	"github.com/clewdev/clew/arch"
)

// Header is an .eh_frame_hdr section: a sorted table of where each function
// starts and where its FDE is (LSB Core, "The .eh_frame_hdr section"). It is
// not changed after it was parsed and may be shared.
type Header struct {
	Address uint64 // of the section's first byte, without load bias

	EHFrameEncoding Encoding
	CountEncoding   Encoding
	TableEncoding   Encoding

	EHFrame Pointer // address of .eh_frame
	Count   uint64  // entries in the table; 0 where there is none

	s     Section // name, bytes, machine; DataBase is the header's own address
	table uint64  // offset of the table in s.Data
	size  uint64  // bytes of one entry; 0 where their sizes vary
}

// HeaderEntry is one entry of the table; addresses without load bias.
type HeaderEntry struct {
	Start uint64 // of the function
	FDE   uint64 // address of the FDE
}

// ParseHeader reads the .eh_frame_hdr whose bytes, which are kept and not
// copied, stand at an address without load bias. The error is an *Error; the
// header returned beside it is never nil and holds what could be read.
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
		// An entry has two bytes at the least.
		if left := c.End - c.Off; c.Err == nil && h.Count > left/max(h.size, 2) {
			c.fail(ErrHeader, "a table of %d entries in %d bytes", h.Count, left)
			h.Count = left / max(h.size, 2)
		}
		if first := h.cursor(h.table); h.Count > 0 {
			// What the first entry's encoding lacks, all lack.
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

// size returns the bytes of a pointer, and 0 where they vary.
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

// entry decodes the i-th entry of a table whose entries have one size.
func (h *Header) entry(i uint64) HeaderEntry {
	c := h.cursor(h.table + i*h.size)
	return HeaderEntry{c.pointer(h.TableEncoding, 0, false).Address, c.pointer(h.TableEncoding, 0, false).Address}
}

// Entries yields the entries of the table in their order, and ends with an
// error where one cannot be decoded.
func (h *Header) Entries() iter.Seq2[HeaderEntry, error] {
	return func(yield func(HeaderEntry, error) bool) {
		c := h.cursor(h.table)
		for range h.Count {
			e := HeaderEntry{c.pointer(h.TableEncoding, 0, false).Address, c.pointer(h.TableEncoding, 0, false).Address}
			if c.Err != nil {
				yield(HeaderEntry{}, c.Err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Searchable reports whether Find is a binary search: there is a table, and its
// entries have one size.
func (h *Header) Searchable() bool { return h.Count > 0 && h.size > 0 }

// Find returns the entry with the greatest start at or below an address
// (without load bias): by binary search where all entries have one size, else
// one by one. Whether its FDE covers the address, the FDE tells. It returns
// false where the table has no such entry, or is none. It allocates nothing.
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

// Check yields an error for everything in which the table and the section
// disagree: an address of .eh_frame that is not the section's, entries out of
// order, entries that lead to no FDE or to one that starts elsewhere, FDEs
// that the table does not list. A table that is absent agrees with any section.
func (h *Header) Check(s *Section) iter.Seq[error] {
	return func(yield func(error) bool) { h.check(s, yield) }
}

func (h *Header) check(s *Section, yield func(error) bool) {
	if h.EHFrameEncoding != EncOmit && h.EHFrame.Address != s.Address &&
		!yield(fmt.Errorf("%w: it says that %s is at %#x, expected %#x", ErrHeader, s.Name, h.EHFrame.Address, s.Address)) {
		return
	}
	if h.Count == 0 && (h.CountEncoding == EncOmit || h.TableEncoding == EncOmit) {
		return
	}
	var f FDE
	var before HeaderEntry
	i, listed := 0, make(map[uint64]struct{}, h.Count)
	for e, err := range h.Entries() {
		switch {
		case err != nil:
		case i > 0 && e.Start < before.Start:
			err = fmt.Errorf("%w: entry %d starts at %#x, before entry %d at %#x", ErrHeader, i, e.Start, i-1, before.Start)
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
		before, i = e, i+1
	}
	for f := range s.FDEs() {
		if _, ok := listed[f.Offset]; !ok && f.End > f.Start {
			if !yield(fmt.Errorf("%w: it lists no FDE at %#x, for [%#x, %#x)", ErrHeader, f.Offset, f.Start, f.End)) {
				return
			}
		}
	}
}
