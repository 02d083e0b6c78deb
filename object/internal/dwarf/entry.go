// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	stdlib "debug/dwarf"
	"fmt"
	"slices"

	"github.com/clewdev/clew/internal/dw"
)

// Offset is where an entry stands: the offset in its section of units, and in
// the bits above, which of them that is.
type Offset uint64

func (o Offset) String() string {
	if n := o >> sourceBits; n > 0 {
		return fmt.Sprintf("section %d of units+%#x", n, uint64(o&(1<<sourceBits-1)))
	}
	return fmt.Sprintf(".debug_info+%#x", uint64(o))
}

// Entry is an entry with all its attributes. Each is asked for by its name and by what
// it should be; ok is false where it is missing or something else. Of several of one
// name the first counts. An Entry is bound to its Reader: they must not be used by
// several goroutines at once, nor after the file was closed.
type Entry struct {
	Offset   Offset
	Tag      stdlib.Tag // 0 at the end of the entries below another
	Children bool

	fields []Field
	in     *opened
}

// Field is an attribute of an entry. It has no pointers: a string or a block stays in its
// section until it is asked for.
type Field struct {
	u     uint64 // see class
	name  uint32
	form  uint16 // of class other: how it is stored, at the offset u of the section of units
	class class
	where stringSection
}

func (f *Field) value() value { return value{f.class, f.where, f.u} }

// Len returns the number of attributes.
func (e *Entry) Len() int { return len(e.fields) }

// Limit forgets the attributes after the first n.
func (e *Entry) Limit(n int) { e.fields = slices.Clip(e.fields[:min(len(e.fields), n)]) }

// KeepIn appends the attributes to buffer, and returns it. The entry then refers to them
// there, and its old buffer may be reused.
func (e *Entry) KeepIn(buffer []Field) []Field {
	n := len(buffer)
	buffer = append(buffer, e.fields...)
	e.fields = buffer[n:len(buffer):len(buffer)]
	return buffer
}

// find returns an attribute, nil where there is none.
func (e *Entry) find(a stdlib.Attr) *Field {
	for i := range e.fields {
		if e.fields[i].name == uint32(a) {
			return &e.fields[i]
		}
	}
	return nil
}

// of returns the attribute that a is where it is of a class, else nil.
func (e *Entry) of(a stdlib.Attr, c class) *Field {
	if f := e.find(a); f != nil && f.class == c {
		return f
	}
	return nil
}

// Has reports whether there is an attribute.
func (e *Entry) Has(a stdlib.Attr) bool { return e.find(a) != nil }

// Number returns a constant of at most eight bytes, or an offset in a section.
func (e *Entry) Number(a stdlib.Attr) (n int64, ok bool) {
	f := e.find(a)
	if f == nil {
		return 0, false
	}
	switch f.class {
	case constant, sectionOffset, listOffset:
		return int64(f.u), true
	}
	return 0, false
}

// Flag reports whether a flag is there and set.
func (e *Entry) Flag(a stdlib.Attr) bool {
	f := e.find(a)
	return f != nil && f.value().isSet()
}

// Address returns an address, also one that is indexed.
func (e *Entry) Address(a stdlib.Attr) (addr uint64, ok bool) {
	f := e.find(a)
	if f == nil {
		return 0, false
	}
	return e.in.d.address(e.in.unit, &e.in.root, f.value())
}

// Reference returns the entry that an attribute refers to by its offset.
func (e *Entry) Reference(a stdlib.Attr) (off Offset, ok bool) {
	if f := e.of(a, reference); f != nil {
		return Offset(f.u), true
	}
	return 0, false
}

// Signature returns the signature by which an attribute refers to a type: see
// [Reader.Signed].
func (e *Entry) Signature(a stdlib.Attr) (s uint64, ok bool) {
	if f := e.of(a, signature); f != nil {
		return f.u, true
	}
	return 0, false
}

// List returns the offset of a list of locations in its section.
func (e *Entry) List(a stdlib.Attr) (offset uint64, ok bool) {
	if f := e.of(a, listOffset); f != nil {
		return f.u, true
	}
	return 0, false
}

// ListIndex returns which of its unit's lists of locations an attribute has.
func (e *Entry) ListIndex(a stdlib.Attr) (n uint64, ok bool) {
	f := e.of(a, other)
	if f == nil || f.form != dw.FormLoclistx {
		return 0, false
	}
	c := e.in.d.entryCursor(e.in.unit, f.u)
	return c.ULEB128(), true
}

// Block returns the bytes of a block, an expression, or a constant of 16 bytes: a view
// of the section.
func (e *Entry) Block(a stdlib.Attr) (b []byte, ok bool) {
	f := e.of(a, other)
	if f == nil {
		return nil, false
	}
	c := e.in.d.entryCursor(e.in.unit, f.u)
	switch f.form {
	case dw.FormBlock1:
		return c.Bytes(uint64(c.Uint8())), true
	case dw.FormBlock2:
		return c.Bytes(uint64(c.Uint16())), true
	case dw.FormBlock4:
		return c.Bytes(uint64(c.Uint32())), true
	case dw.FormBlock, dw.FormExprloc:
		return c.Bytes(c.ULEB128()), true
	case dw.FormData16:
		return c.Bytes(16), true
	}
	return nil, false
}

// Text returns a string, a copy; it is empty where its section does not have it.
func (e *Entry) Text(a stdlib.Attr) (s string, ok bool) {
	f := e.find(a)
	if f == nil || f.class != text && f.class != textIndex {
		return "", false
	}
	d := e.in.d
	b := d.text(e.in.unit, &e.in.root, f.value())
	if d.texts -= len(b); d.texts < 0 {
		return "", false // and no other entry is read
	}
	return string(b), true
}

// IsText reports whether an attribute is this string.
func (e *Entry) IsText(a stdlib.Attr, s string) bool {
	f := e.find(a)
	if f == nil || f.class != text && f.class != textIndex {
		return false
	}
	return string(e.in.d.textUpTo(len(s)+1, e.in.unit, &e.in.root, f.value())) == s
}

// span returns the extent of the entry.
func (e *Entry) span() (s span) {
	if f := e.find(dw.AttrLowPC); f != nil {
		s.low = f.value()
	}
	if f := e.find(dw.AttrHighPC); f != nil {
		s.high = f.value()
	}
	if f := e.find(dw.AttrRanges); f != nil {
		s.ranges = f.value()
	}
	return s
}

// opened is a unit that entries are read of.
type opened struct {
	d     *Data
	unit  *unit
	root  root
	table *abbreviations // nil before one was
}
