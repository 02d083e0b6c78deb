// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"iter"
	"slices"
)

// Entry is one entry of a section: a CIE or an FDE. If both are nil, it is a zero
// terminator or an entry that could not be decoded.
type Entry struct {
	Offset uint64 // of the length field, in the section
	Size   uint64 // in bytes, including the length field
	CIE    *CIE
	FDE    *FDE

	terminator bool
}

// Terminator reports whether the entry is a zero length, which ends the entries of one
// input object. A linked .eh_frame can contain one in the middle.
func (e Entry) Terminator() bool { return e.terminator }

// Entries yields the entries of the section in order. A malformed entry comes with an
// [*Error]; the entries after it follow if its length is valid. The next entry overwrites the
// FDE: copy it to keep it.
func (s *Section) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r := reader{s: s}
		for r.next() {
			if !yield(r.entry, r.err) {
				return
			}
		}
	}
}

// FDEs yields the FDEs of the section in order, without malformed ones. The next FDE overwrites
// the previous one: copy it to keep it.
func (s *Section) FDEs() iter.Seq[*FDE] {
	return func(yield func(*FDE) bool) {
		r := reader{s: s}
		for {
			for r.plain() {
				if !yield(&r.fde) {
					return
				}
			}
			if !r.next() || r.entry.FDE != nil && !yield(r.entry.FDE) {
				return
			}
		}
	}
}

// reader reads a section entry by entry.
type reader struct {
	s     *Section
	entry Entry
	err   error  // of the entry
	off   uint64 // of the next entry
	cie   *CIE   // of the previous entry, and mostly of the next one too
	fde   FDE
}

// plain reads the next entry if decodePlain can decode it.
func (r *reader) plain() bool {
	if r.cie == nil || !r.cie.plain || r.off >= uint64(len(r.s.Data)) || !r.fde.decodePlain(r.cie, r.off) {
		return false
	}
	r.off += r.fde.Size
	return true
}

// next reads the next entry and returns false at the end of the section.
func (r *reader) next() bool {
	s := r.s
	if r.off >= uint64(len(s.Data)) {
		return false
	}
	if r.plain() {
		r.entry, r.err = Entry{Offset: r.fde.Offset, Size: r.fde.Size, FDE: &r.fde}, nil
		return true
	}
	c, dwarf64 := s.entry(r.off)
	r.entry, r.err = Entry{Offset: r.off, Size: c.End - r.off}, c.Err
	if c.Err == nil && c.Off == c.End {
		r.entry.terminator = !dwarf64
	} else if c.Err == nil {
		at := c.Off
		id := s.id(&c, dwarf64)
		switch {
		case c.Err != nil:
			r.err = c.Err
		case s.isCIE(id, dwarf64):
			if r.entry.CIE, r.err = s.decodeCIE(&c, r.off, dwarf64); r.err == nil {
				r.cie = r.entry.CIE
			}
		default:
			if r.err = s.decodeFDE(&c, r.off, at, id, dwarf64, r.cie, &r.fde); r.err == nil {
				r.entry.FDE, r.cie = &r.fde, r.fde.CIE
			}
		}
	}
	// After an invalid length the start of the next entry is unknown, so the entry's size is
	// all remaining bytes.
	r.off += r.entry.Size
	return true
}

// entry returns a cursor over the entry at an offset, after its length. It is empty for a
// terminator.
func (s *Section) entry(offset uint64) (c cursor, dwarf64 bool) {
	c = s.cursor(offset, uint64(len(s.Data)))
	if offset > c.End {
		c.Off = c.End
		c.fail(ErrTruncated, "an entry at %#x, expected one in the section's %#x bytes", offset, len(s.Data))
		return c, false
	}
	length := c.Uint(4)
	if length == 0xffffffff {
		dwarf64 = true
		length = c.Uint(8)
	}
	if length > c.End-c.Off {
		left := c.End - c.Off
		c.Off = offset
		c.fail(ErrTruncated, "an entry of %#x bytes, but %#x are left", length, left)
	}
	if c.Err == nil {
		c.End = c.Off + length
		if len(s.Unrelocated) > 0 {
			s.checkRelocated(&c, offset)
		}
	}
	return c, dwarf64
}

// checkRelocated fails at a byte of an entry at which a relocation was not applied.
func (s *Section) checkRelocated(c *cursor, offset uint64) {
	i, _ := slices.BinarySearch(s.Unrelocated, offset)
	if i < len(s.Unrelocated) && s.Unrelocated[i] < c.End {
		c.Off = s.Unrelocated[i]
		c.fail(ErrRelocation, "the values of the entry are unknown")
	}
}

// id reads the CIE id of a CIE or the CIE pointer of an FDE. In .eh_frame it always has four
// bytes, even in 64-bit DWARF (LSB Core).
func (s *Section) id(c *cursor, dwarf64 bool) uint64 {
	if dwarf64 && s.Kind == DebugFrame {
		return c.Uint(8)
	}
	return c.Uint(4)
}

func (s *Section) isCIE(id uint64, dwarf64 bool) bool {
	switch {
	case s.Kind == EHFrame:
		return id == 0
	case dwarf64:
		return id == 0xffffffffffffffff
	default:
		return id == 0xffffffff
	}
}
