// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"fmt"

	"github.com/clewdev/clew/internal/dw"
)

// walker reads an entry and all entries below it, in the order of the section.
type walker struct {
	*Data
	unit  *unit
	table *abbreviations
	c     cursor // its error ends the walk

	offset uint64        // of the current entry
	a      *abbreviation // its declaration; nil at the end of a list of children
	depth  int           // the number of open entries, whose children are being read
	begun  bool
}

// walk returns a walker that starts with the entry at an offset of the unit.
func (d *Data) walk(u *unit, offset uint64) (walker, error) {
	table, err := d.abbreviationsOf(u)
	return walker{Data: d, unit: u, table: table, c: d.entryCursor(u, offset)}, err
}

// next moves to the next entry, or to the end of a list of children: then depth is the
// number of entries that are still open. The caller must read or pass the attributes of
// each entry, and then call descend. next returns false after the last entry, and after
// an error.
func (w *walker) next() bool {
	if w.begun && w.depth == 0 || w.c.Err != nil || w.c.remain() <= 0 {
		return false
	}
	w.begun = true
	w.offset = w.unit.offset(w.c.Off)
	code := w.c.ULEB128()
	if code == 0 {
		if w.depth == 0 || w.c.Err != nil {
			return false
		}
		w.a = nil
		w.depth--
		return true
	}
	a, ok := w.table.find(code)
	if !ok {
		w.c.fail("abbreviation %d is not declared", code)
		return false
	}
	w.a = a
	if w.steps -= 1 + int(a.end-a.first); w.steps < 0 {
		w.c.Err = errTooMuch
		return false
	}
	return true
}

// read decodes the attributes of the current entry into e.
func (w *walker) read(e *entry) {
	attributes := w.table.of(w.a)
	for i := range attributes {
		e.set(attributes[i].name, w.unit.read(&w.c, attributes[i]))
	}
}

// pass skips the attributes of the current entry.
func (w *walker) pass() { w.unit.pass(&w.c, w.table, w.a) }

// descend opens the current entry, and reports whether its children come next. If no
// child of such an entry can have code, it goes to the sibling (DW_AT_sibling) instead.
func (w *walker) descend(sibling value) bool {
	if !w.a.children {
		return false
	}
	if isWithoutCode(w.a.tag) && w.skipTo(sibling) {
		return false
	}
	w.depth++
	return true
}

// skipTo goes to the sibling of the current entry if it is after the entry in the unit.
func (w *walker) skipTo(sibling value) bool {
	ok := sibling.class == reference && sibling.u > w.offset && w.unit.holds(sibling.u, w.c.Off)
	if ok {
		w.c.Off = w.unit.local(sibling.u)
	}
	return ok
}

// record takes one record of a function from the budget. Without one it ends the walk.
func (w *walker) record() bool {
	if w.records--; w.records < 0 && w.c.Err == nil {
		w.c.Err = errTooMuch
	}
	return w.c.Err == nil
}

// isWithoutCode reports whether no child of an entry with a tag has code.
func isWithoutCode(tag uint32) bool {
	switch tag {
	case dw.TagFormalParameter, dw.TagArrayType, dw.TagEnumerationType, dw.TagSubroutineType, dw.TagVariable, dw.TagCallSite, dw.TagGNUCallSite:
		return true
	}
	return false
}

// declarationAt returns the declaration of the entry at an offset, and a cursor at its
// attributes.
func (d *Data) declarationAt(u *unit, offset uint64) (c cursor, table *abbreviations, a *abbreviation, err error) {
	if table, err = d.abbreviationsOf(u); err != nil {
		return c, table, nil, err
	}
	c = d.entryCursor(u, offset)
	a, ok := table.find(c.ULEB128())
	if !ok {
		err = fmt.Errorf("entry at %#x: its abbreviation is not declared", offset)
	}
	return c, table, a, err
}

// entry has the attributes of an entry that functions, blocks and call sites need.
type entry struct {
	pc                             span
	sibling                        value
	callFile, callLine, callColumn value

	complete              bool // the function's tail calls all have an entry
	returnPC, callPC      value
	callOrigin, origin    value
	tail                  bool
	declaration, external bool
	noReturn              bool
	specification         value
}

func (e *entry) set(name uint32, v value) {
	switch name {
	case dw.AttrSibling:
		e.sibling = v
	case dw.AttrLowPC:
		e.pc.low = v
	case dw.AttrHighPC:
		e.pc.high = v
	case dw.AttrRanges:
		e.pc.ranges = v
	case dw.AttrCallFile:
		e.callFile = v
	case dw.AttrCallLine:
		e.callLine = v
	case dw.AttrCallColumn:
		e.callColumn = v
	case dw.AttrCallAllCalls, dw.AttrCallAllTailCalls, dw.AttrGNUAllCallSites, dw.AttrGNUAllTailCallSites:
		e.complete = e.complete || v.isSet()
	case dw.AttrCallReturnPC:
		e.returnPC = v
	case dw.AttrCallPC:
		e.callPC = v
	case dw.AttrCallOrigin:
		e.callOrigin = v
	case dw.AttrAbstractOrigin:
		e.origin = v
	case dw.AttrDeclaration:
		e.declaration = v.isSet()
	case dw.AttrExternal:
		e.external = v.isSet()
	case dw.AttrNoreturn:
		e.noReturn = v.isSet()
	case dw.AttrSpecification:
		e.specification = v
	case dw.AttrCallTailCall, dw.AttrGNUTailCall:
		e.tail = v.isSet()
	}
}

// entryAt reads one entry.
func (d *Data) entryAt(u *unit, offset uint64) (e entry, err error) {
	c, table, a, err := d.declarationAt(u, offset)
	if err != nil {
		return e, err
	}
	w := walker{Data: d, unit: u, table: table, c: c, a: a}
	if w.steps -= 1 + int(a.end-a.first); w.steps < 0 {
		return e, errTooMuch
	}
	w.read(&e)
	return e, w.c.Err
}
