// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	stdlib "debug/dwarf"
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/internal/dw"
)

// Unit is the header of a unit.
type Unit struct {
	Start, End Offset // with the header
	First      Offset // of the first entry
	Version    int
	Is64       bool
	Width      int // bytes of an address
	Type       bool
	Split      bool // the unit was not linked

	unit *unit
}

// Reader reads the entries of units. It must not be used by several goroutines at once.
type Reader struct {
	d     *Data
	units map[*unit]*Unit
	open  map[*unit]*openUnit // see Code
	seen  map[*unit]*opened

	signed      map[uint64]*unit // type units of the first signedFiles sources, by signature
	signedFiles int

	// The functions that a Data had read when it made the Reader, by start of the unit; nil
	// if no Data made it.
	functions map[uint64]functionTable

	in *opened // nil before the first Seek
	c  cursor
}

// NewReader reads the headers of all units that were linked.
func NewReader(s Sections, files Files) (*Reader, error) {
	d := newData(s, files)
	d.addFile(0, s, false)
	if len(d.sources[0].units) == 0 {
		return nil, errors.Join(append(d.damage, errors.New(".debug_info: no unit can be read"))...)
	}
	return newReader(d), nil
}

func newReader(d *Data) *Reader {
	return &Reader{d: d, units: make(map[*unit]*Unit), open: make(map[*unit]*openUnit), seen: make(map[*unit]*opened)}
}

// Size returns the size in bytes of the sections of units that are open.
func (r *Reader) Size() int { return r.d.size }

// Restart renews the budget for the calls that follow.
func (r *Reader) Restart() { r.d.steps, r.d.texts = 1<<20+16*r.d.size, 32<<20+32*r.d.size }

// Units returns the units that were linked, by their offset.
func (r *Reader) Units() (list []*Unit) {
	for _, src := range r.d.sources {
		if src != nil && !src.split && src.number != supplementaryNumber {
			list = append(list, r.all(src)...)
		}
	}
	return list
}

// Supplementary returns the units that dwz moved to another file.
func (r *Reader) Supplementary() ([]*Unit, error) {
	src := r.d.supplementary()
	if src == nil {
		return nil, r.d.missing
	}
	return r.all(src), nil
}

func (r *Reader) all(src *source) []*Unit {
	units := r.d.unitsOf(src)
	list := make([]*Unit, len(units))
	for i, u := range units {
		list[i] = r.of(u)
	}
	return list
}

// of returns the Unit of a unit, the same one each time.
func (r *Reader) of(u *unit) *Unit {
	if u == nil {
		return nil
	}
	known := r.units[u]
	if known == nil {
		known = &Unit{
			Start: Offset(u.offset(u.start)), End: Offset(u.offset(u.end)), First: Offset(u.offset(u.first)),
			Version: int(u.version), Is64: u.is64, Width: u.addressSize, Type: u.typeUnit, Split: u.source.split, unit: u,
		}
		r.units[u] = known
	}
	return known
}

// UnitAt returns the unit that contains an entry, nil if there is none.
func (r *Reader) UnitAt(off Offset) *Unit { return r.of(r.d.unitAt(uint64(off))) }

// Missing returns why the supplementary file of dwz is missing; nil if it is there or
// was not needed yet.
func (r *Reader) Missing() error { return r.d.missing }

// Cut returns an error for the first string read that exceeds its section, else nil.
func (r *Reader) Cut() error { return r.d.cut }

// Code returns the unit with the entries of u: u itself, or the split unit if u is a
// skeleton. With an error it returns u.
func (r *Reader) Code(u *Unit) (*Unit, error) {
	if u.Split || u.Type {
		return u, nil
	}
	o := r.open[u.unit]
	if o == nil {
		o = &openUnit{unit: u.unit, code: u.unit}
		if o.root, o.err = r.d.readRoot(u.unit); o.err == nil {
			o.err = r.d.openSplit(o)
		}
		r.open[u.unit] = o
	}
	return r.of(o.code), o.err
}

// FileName returns the path of a file in the line table of a unit, to which entries refer by its
// number. It returns "" if it is unknown, as it is for split and type units.
func (r *Reader) FileName(u *Unit, file int) string {
	if _, err := r.Code(u); err != nil || u.Split || u.Type {
		return ""
	}
	o := r.open[u.unit]
	if o.lines.files == nil {
		o.lines, _ = r.d.readLines(u.unit, &o.root)
	}
	return r.d.fileName(o, file)
}

// Coverage is the description of a unit's code in its first entry.
type Coverage struct {
	Tag    stdlib.Tag
	Ranges [][2]uint64
	Lines  bool // it has a line table
}

// Coverage reads the first entry of a unit. It reads the abbreviation of that entry only,
// because the other entries of most units are never needed.
func (r *Reader) Coverage(u *Unit) (c Coverage, err error) {
	var root root
	if o := r.seen[u.unit]; o != nil {
		root = o.root
	} else if root, err = r.d.readRoot(u.unit); err != nil {
		return c, err
	}
	c.Tag, c.Lines = stdlib.Tag(root.tag), root.line.class != other
	err = r.rangesIn(u.unit, &root, root.pc, func(low, high uint64) { c.Ranges = append(c.Ranges, [2]uint64{low, high}) })
	return c, err
}

// Bases returns the bases of addresses and location lists of a unit: the unit's first
// address, and the offsets of its parts of .debug_addr and .debug_loclists.
func (r *Reader) Bases(u *Unit) (low, addresses, locations uint64) {
	o, err := r.opened(u.unit)
	if err != nil {
		return 0, 0, 0 // the caller cannot read an entry of the unit
	}
	return o.root.low, o.root.addrBase, o.root.loclistsBase
}

// Reference returns the entry at offset n in the section of units of the file, linked or
// split, that contains u.
func (r *Reader) Reference(u *Unit, n uint64) Offset {
	v := u.unit.sourceReference(u.unit.source.number, u.unit.part.info+n)
	return Offset(v.u)
}

// Signed returns the entry of the type with a signature (DWARF 5 §7.32).
func (r *Reader) Signed(signature uint64) (Offset, bool) {
	if r.signed == nil || r.signedFiles != len(r.d.sources) {
		r.signed, r.signedFiles = make(map[uint64]*unit), len(r.d.sources)
		for _, src := range r.d.sources {
			if src == nil {
				continue
			}
			for _, u := range r.d.unitsOf(src) {
				if u.hasType() {
					r.signed[u.signature] = u
				}
			}
		}
	}
	u := r.signed[signature]
	if u == nil {
		// Code returns the errors of packages.
		u, _ = r.d.packagedUnit(signature, true)
		if u == nil || !u.hasType() {
			return 0, false
		}
	}
	return Offset(u.offset(u.start + u.typeOffset)), true
}

// hasType reports whether the unit is a type unit and contains the entry of its type.
func (u *unit) hasType() bool {
	return u.typeUnit && u.typeOffset > 0 && u.typeOffset < u.end-u.start
}

// Seek makes the entry at an offset the next one.
func (r *Reader) Seek(off Offset) error {
	u := r.d.unitAt(uint64(off))
	if u == nil {
		if off>>sourceBits == supplementaryNumber && r.d.missing != nil {
			return r.d.missing
		}
		return fmt.Errorf("%v: in no unit", off)
	}
	if r.in == nil || u != r.in.unit {
		table, err := r.d.abbreviationsOf(u)
		if err != nil {
			return err
		}
		in, err := r.opened(u)
		if err != nil {
			return err
		}
		in.table = table
		r.in = in
	}
	r.c = r.d.entryCursor(u, uint64(off))
	return nil
}

// opened returns a unit with its first entry.
func (r *Reader) opened(u *unit) (*opened, error) {
	if known := r.seen[u]; known != nil {
		return known, nil
	}
	o := &opened{d: r.d, unit: u}
	var err error
	if o.root, err = r.d.readRoot(u); err != nil {
		return nil, err
	}
	if u.skeleton != nil || u.typeUnit || !u.source.split {
		// The skeleton of other units may still be found.
		r.seen[u] = o
	}
	return o, nil
}

// Next returns the next entry, nil at the end of the unit.
func (r *Reader) Next() (*Entry, error) {
	e := new(Entry)
	if ok, err := r.NextTo(e); !ok || err != nil {
		return nil, err
	}
	return e, nil
}

// NextTo reads the next entry into e, and reuses the buffer of its attributes; ok is
// false at the end of the unit.
func (r *Reader) NextTo(e *Entry) (ok bool, err error) {
	buffer, ok, err := r.NextIn(e, e.fields[:0])
	if ok && err == nil {
		e.fields = buffer
	}
	return ok, err
}

// NextIn is NextTo, but appends the attributes to buffer and returns it. The caller must
// not change the appended part as long as it uses e.
func (r *Reader) NextIn(e *Entry, buffer []Field) (_ []Field, ok bool, err error) {
	a, ok, err := r.begin(e)
	if !ok || err != nil || a == nil {
		return buffer, ok, err
	}
	attributes := r.in.table.of(a)
	n := len(buffer)
	buffer = slices.Grow(buffer, len(attributes))[:n+len(attributes)]
	e.fields = buffer[n:len(buffer):len(buffer)]
	for i := range e.fields {
		r.field(&e.fields[i], attributes[i])
	}
	return buffer, true, r.c.Err
}

// Pass reads the next entry into e without its attributes, and returns their number.
func (r *Reader) Pass(e *Entry) (attributes int, ok bool, err error) {
	a, ok, err := r.begin(e)
	if !ok || err != nil || a == nil {
		return 0, ok, err
	}
	if r.in.unit.pass(&r.c, r.in.table, a); r.c.Err != nil {
		return 0, true, r.c.Err
	}
	return int(a.end - a.first), true, nil
}

// begin reads the next entry up to its attributes, and returns its declaration: nil at the
// end of a list of children.
func (r *Reader) begin(e *Entry) (a *abbreviation, ok bool, err error) {
	if r.in == nil || r.c.remain() <= 0 {
		return nil, false, r.c.Err
	}
	if r.d.texts < 0 {
		return nil, false, errTooMuch
	}
	e.Offset, e.Tag, e.Children = Offset(r.in.unit.offset(r.c.Off)), 0, false
	e.fields, e.in = e.fields[:0], r.in
	code := r.c.ULEB128()
	if code == 0 {
		return nil, true, r.c.Err
	}
	if a, ok = r.in.table.find(code); !ok {
		r.c.fail("abbreviation %d is not declared", code)
		return nil, true, r.c.Err
	}
	e.Tag, e.Children = stdlib.Tag(a.tag), a.children
	if n := int(a.end - a.first); n > r.c.remain()+64 {
		r.c.fail("%d attributes, %d bytes left", n, r.c.remain())
	}
	return a, true, r.c.Err
}

// field reads an attribute into f.
func (r *Reader) field(f *Field, at attribute) {
	start := r.c.Off
	if at.form == dw.FormIndirect {
		if at.form = uint32(r.c.ULEB128()); at.form == dw.FormIndirect {
			r.c.fail("attribute %#x has an indirect form that is indirect", at.name)
		}
		start = r.c.Off
	}
	u := r.in.unit
	v := u.read(&r.c, at)
	f.u, f.name, f.form, f.class, f.where = v.u, at.name, 0, v.class, v.where
	switch {
	case v.class == other:
		f.u, f.form = start, uint16(at.form)
	case v.class == sectionOffset || v.class == constant && u.version < 4 && (at.form == dw.FormData4 || at.form == dw.FormData8):
		if isLocation(at.name) {
			f.u, f.class = u.part.locations+v.u, listOffset
		}
	}
}

// isLocation reports whether an attribute can refer to a list of locations.
func isLocation(name uint32) bool {
	switch name {
	case dw.AttrLocation, dw.AttrStringLength, dw.AttrReturnAddress, dw.AttrDataMemberLocation, dw.AttrFrameBase,
		dw.AttrSegment, dw.AttrStaticLink, dw.AttrUseLocation, dw.AttrVtableElementLocation:
		return true
	}
	return false
}

// Ranges calls visit with the addresses [low, high) that an entry covers.
func (r *Reader) Ranges(e *Entry, visit func(low, high uint64)) error {
	o, err := r.opened(e.in.unit)
	if err != nil {
		return err
	}
	return r.rangesIn(o.unit, &o.root, e.span(), visit)
}

func (r *Reader) rangesIn(u *unit, root *root, s span, visit func(low, high uint64)) error {
	left := 1<<10 + r.d.size
	err := r.d.ranges(u, root, s, func(low, high uint64) bool {
		visit(low, high)
		left--
		return left >= 0
	})
	if left < 0 {
		err = errTooMuch
	}
	return err
}

// Lists returns the section with the location lists of a unit.
func (r *Reader) Lists(u *Unit) []byte {
	s := u.unit.source
	if !s.listsRead && s.Locations != nil {
		name := "loc"
		if u.Version >= 5 {
			name = "loclists"
		}
		s.lists, s.listsRead = s.Locations(name), true
	}
	return s.lists
}

// Addresses returns the .debug_addr of the linked file.
func (r *Reader) Addresses() []byte { return r.d.sources[0].Addr }
