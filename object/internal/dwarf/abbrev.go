// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"fmt"
	"slices"

	"github.com/clewdev/clew/internal/dw"
)

// attribute is the name and the form of an attribute in an abbreviation.
type attribute struct {
	name, form uint32
	implicit   int64 // the value of DW_FORM_implicit_const
}

// abbreviation is a declaration of .debug_abbrev (DWARF 5 §7.5.3).
type abbreviation struct {
	code       uint64
	tag        uint32
	children   bool
	lists      uint16 // up to this DWARF version, it declares a variable with a location list
	first, end uint32 // of its attributes in the table
	size       attributeSize
}

// attributeSize is the size of the attributes of an entry, if all entries of the
// declaration have the same.
type attributeSize struct {
	bytes              uint16
	offsets, addresses uint8 // their number; the unit has the size of each
	varies             bool
}

func (s *attributeSize) add(form uint32) {
	bytes := uint16(0)
	switch form {
	case dw.FormFlagPresent, dw.FormImplicitConst:
	case dw.FormData1, dw.FormFlag, dw.FormRef1, dw.FormStrx1, dw.FormAddrx1:
		bytes = 1
	case dw.FormData2, dw.FormRef2, dw.FormStrx2, dw.FormAddrx2:
		bytes = 2
	case dw.FormStrx3, dw.FormAddrx3:
		bytes = 3
	case dw.FormData4, dw.FormRef4, dw.FormStrx4, dw.FormAddrx4, dw.FormRefSup4:
		bytes = 4
	case dw.FormData8, dw.FormRef8, dw.FormRefSig8, dw.FormRefSup8:
		bytes = 8
	case dw.FormData16:
		bytes = 16
	case dw.FormStrp, dw.FormLineStrp, dw.FormSecOffset, dw.FormStrpSup, dw.FormGNUStrpAlt, dw.FormGNURefAlt:
		s.offsets++
		s.varies = s.varies || s.offsets == 0
	case dw.FormAddr:
		s.addresses++
		s.varies = s.varies || s.addresses == 0
	default:
		s.varies = true
	}
	s.bytes += bytes
	s.varies = s.varies || s.bytes < bytes // overflow
}

// abbreviations is a table of declarations, which several units can share. It does not
// change after it was read.
type abbreviations struct {
	dense      []abbreviation // code i+1 at i
	sparse     map[uint64]*abbreviation
	only       abbreviation // of a table of one
	attributes []attribute
	err        error // the table is empty if it is not nil
}

// find returns the declaration of a code; without one, an empty declaration and false.
func (t *abbreviations) find(code uint64) (a *abbreviation, ok bool) {
	if code-1 < uint64(len(t.dense)) {
		return &t.dense[code-1], true
	}
	if code == t.only.code {
		return &t.only, true
	}
	if a, ok = t.sparse[code]; !ok {
		a = new(abbreviation)
	}
	return a, ok
}

func (t *abbreviations) of(a *abbreviation) []attribute { return t.attributes[a.first:a.end] }

// declaration reads a declaration after its code.
func (t *abbreviations) declaration(c *cursor, code uint64) abbreviation {
	a := abbreviation{code: code, tag: uint32(c.ULEB128()), children: c.Uint8() != 0, first: uint32(len(t.attributes))}
	for {
		at := attribute{name: uint32(c.ULEB128()), form: uint32(c.ULEB128())}
		if at.form == dw.FormImplicitConst {
			at.implicit = c.SLEB128()
		}
		if at.name == 0 && at.form == 0 || c.Err != nil {
			break
		}
		t.attributes = append(t.attributes, at)
		a.size.add(at.form)
		if at.name == dw.AttrLocation && (a.tag == dw.TagVariable || a.tag == dw.TagFormalParameter) {
			switch at.form {
			case dw.FormSecOffset, dw.FormLoclistx:
				a.lists = 5
			case dw.FormData4, dw.FormData8: // DWARF 3 §7.5.4: class loclistptr
				a.lists = 3
			}
		}
	}
	a.end = uint32(len(t.attributes))
	return a
}

// skip skips a declaration after its code.
func skip(c *cursor) {
	c.ULEB128() // tag
	c.Uint8()   // children
	for c.Err == nil {
		name, form := c.ULEB128(), c.ULEB128()
		if form == dw.FormImplicitConst {
			c.SLEB128()
		}
		if name == 0 && form == 0 {
			return
		}
	}
}

// rootAbbreviations returns a table with the one declaration that the first entry of a
// unit needs. It is valid until the next call: the other entries of most units are never
// read.
func (d *Data) rootAbbreviations(u *unit, code uint64) (*abbreviations, error) {
	if t, ok := u.source.tables[u.abbrev]; ok && t.err == nil {
		return t, nil
	}
	c, err := d.abbreviationCursor(u)
	if err != nil {
		return nil, err
	}
	t := &d.root
	*t = abbreviations{attributes: t.attributes[:0]}
	for c.Err == nil {
		start := c.Off
		this := c.ULEB128()
		if this == 0 {
			break
		}
		if this == code {
			t.only = t.declaration(&c, this)
			break
		}
		skip(&c)
		if d.steps -= int(c.Off - start); d.steps < 0 {
			return nil, errTooMuch
		}
	}
	return t, c.Err
}

// abbreviationsOf returns the table of a unit, and reads it at the first call.
func (d *Data) abbreviationsOf(u *unit) (*abbreviations, error) {
	t, ok := u.source.tables[u.abbrev]
	if !ok {
		var err error
		if t, err = d.readAbbreviations(u); err != nil {
			t = &abbreviations{err: err}
		}
		u.source.tables[u.abbrev] = t
	}
	return t, t.err
}

// readAbbreviations reads the table of a unit. Tables of different units can overlap, so
// that a budget bounds all of them together.
func (d *Data) readAbbreviations(u *unit) (*abbreviations, error) {
	c, err := d.abbreviationCursor(u)
	if err != nil {
		return nil, err
	}
	t := &d.table
	*t = abbreviations{dense: t.dense[:0], attributes: t.attributes[:0]}
	for {
		start := c.Off
		code := c.ULEB128()
		if code == 0 || c.Err != nil {
			break
		}
		a := t.declaration(&c, code)
		if code == uint64(len(t.dense))+1 {
			t.dense = append(t.dense, a)
		} else {
			if t.sparse == nil {
				t.sparse = make(map[uint64]*abbreviation)
			}
			if _, declared := t.sparse[code]; !declared {
				onHeap := a // a itself stays on the stack
				t.sparse[code] = &onHeap
			}
		}
		if d.abbrevBudget -= int(c.Off - start); d.abbrevBudget < 0 {
			return nil, fmt.Errorf("%s at %#x: tables overlap", c.section(), u.abbrev)
		}
	}
	if c.Err != nil {
		return nil, c.Err
	}
	return &abbreviations{dense: slices.Clone(t.dense), sparse: t.sparse, attributes: slices.Clone(t.attributes)}, nil
}

func (d *Data) abbreviationCursor(u *unit) (cursor, error) {
	c := d.cursor(u.source.section(debugAbbrev), u.source.Abbrev)
	if u.abbrev > uint64(len(c.Data)) {
		return c, fmt.Errorf("%s: offset %#x in %#x bytes", c.section(), u.abbrev, len(c.Data))
	}
	c.Off = u.abbrev
	return c, nil
}
