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

// Offset is the position of an entry: the offset in its section of units in the low
// sourceBits bits, and the number of the section in the bits above.
type Offset uint64

func (o Offset) String() string {
	if n := o >> sourceBits; n > 0 {
		return fmt.Sprintf("section %d of units+%#x", n, uint64(o&(1<<sourceBits-1)))
	}
	return fmt.Sprintf(".debug_info+%#x", uint64(o))
}

// Entry is an entry with all its attributes. Its methods return an attribute by its name
// and its class; ok is false if it is missing or of another class. If several attributes
// have one name, the first counts. An Entry belongs to its Reader: they must not be used
// by several goroutines at once, and not after the file was closed.
type Entry struct {
	Offset   Offset
	Tag      stdlib.Tag // 0 at the end of the entries below another
	Children bool

	fields []Field
	in     *opened
}

// Field is an attribute of an entry. It has no pointers: a string or a block is read from
// its section when it is needed.
type Field struct {
	u     uint64 // see class
	name  uint32
	form  uint16 // of class other: the form of the value, which is at offset u in the section of units
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

// find returns an attribute, nil if it is missing.
func (e *Entry) find(a stdlib.Attr) *Field {
	for i := range e.fields {
		if e.fields[i].name == uint32(a) {
			return &e.fields[i]
		}
	}
	return nil
}

// Has reports whether the entry has an attribute.
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

// value returns the value of an attribute, the zero value if it is missing.
func (e *Entry) value(a stdlib.Attr) (v value) {
	if f := e.find(a); f != nil {
		v = f.value()
	}
	return v
}

// Flag reports whether a flag is there and set.
func (e *Entry) Flag(a stdlib.Attr) bool { return e.value(a).isSet() }

// Address returns an address, also one that is indexed.
func (e *Entry) Address(a stdlib.Attr) (addr uint64, ok bool) {
	return e.in.d.address(e.in.unit, &e.in.root, e.value(a))
}

// ofClass returns the value of an attribute if it is of a class.
func (e *Entry) ofClass(a stdlib.Attr, c class) (u uint64, ok bool) {
	f := e.find(a)
	if f == nil || f.class != c {
		return 0, false
	}
	return f.u, true
}

// Reference returns the entry that an attribute refers to by its offset.
func (e *Entry) Reference(a stdlib.Attr) (off Offset, ok bool) {
	u, ok := e.ofClass(a, reference)
	return Offset(u), ok
}

// Signature returns the signature by which an attribute refers to a type: see
// [Reader.Signed].
func (e *Entry) Signature(a stdlib.Attr) (s uint64, ok bool) { return e.ofClass(a, signature) }

// List returns the offset of a list of locations in its section.
func (e *Entry) List(a stdlib.Attr) (offset uint64, ok bool) { return e.ofClass(a, listOffset) }

// ListIndex returns the index of a list of locations among those of the unit.
func (e *Entry) ListIndex(a stdlib.Attr) (n uint64, ok bool) {
	f := e.find(a)
	if f == nil || f.class != other || f.form != dw.FormLoclistx {
		return 0, false
	}
	c := e.in.d.entryCursor(e.in.unit, f.u)
	return c.ULEB128(), true
}

// Block returns the bytes of a block, an expression, or a constant of 16 bytes: a view
// of the section.
func (e *Entry) Block(a stdlib.Attr) (b []byte, ok bool) {
	f := e.find(a)
	if f == nil || f.class != other {
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

// text returns the bytes of a string, at most size, as a view of its section.
func (e *Entry) text(a stdlib.Attr, size int) (b []byte, ok bool) {
	v := e.value(a)
	if v.class != text && v.class != textIndex {
		return nil, false
	}
	return e.in.d.textUpTo(size, e.in.unit, &e.in.root, v), true
}

// Text returns a copy of a string; it is empty if its section does not have it.
func (e *Entry) Text(a stdlib.Attr) (s string, ok bool) {
	b, ok := e.text(a, maxText)
	if e.in.d.texts -= len(b); e.in.d.texts < 0 {
		return "", false // and no other entry is read
	}
	return string(b), ok
}

// IsText reports whether an attribute is the string s.
func (e *Entry) IsText(a stdlib.Attr, s string) bool {
	b, ok := e.text(a, len(s)+1)
	return ok && string(b) == s
}

// span returns the extent of the entry.
func (e *Entry) span() span {
	return span{e.value(dw.AttrLowPC), e.value(dw.AttrHighPC), e.value(dw.AttrRanges)}
}

// opened is a unit from which entries are read.
type opened struct {
	d     *Data
	unit  *unit
	root  root
	table *abbreviations // nil before the first Seek to the unit
}
