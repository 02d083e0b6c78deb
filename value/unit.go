// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"sort"
)

const relocatable = elf.ET_REL

// unit is a unit of .debug_info.
type unit struct {
	start, end uint64 // [start, end) in the section, header included
	first      dwarf.Offset
	version    int
	is64       bool
	width      int    // bytes of an address
	signature  uint64 // of a type unit
	typeOffset uint64 // of a type unit: where its type stands in the section

	entry        *dwarf.Entry // the root, nil before it is read
	language     Language
	base         uint64 // default base of its location lists
	addrBase     uint64
	loclistsBase uint64

	names           names
	indexed, nested bool
}

// readUnits reads the headers of all units (DWARF 5 §7.5.1).
func (i *Info) readUnits() error {
	c := cursor{section: ".debug_info", data: i.info, order: i.machine.Order}
	for c.off < uint64(len(c.data)) {
		u := &unit{start: c.off}
		n, is64 := c.length()
		if n > uint64(len(c.data))-c.off {
			c.fail("unit of %#x bytes, %#x left", n, uint64(len(c.data))-c.off)
		}
		if c.err != nil {
			break
		}
		if n == 0 {
			continue
		}
		u.end, u.is64 = c.off+n, is64
		u.version = int(c.uint(2))
		kind := uint64(unitCompile)
		if u.version >= 5 {
			kind = c.uint(1)
			u.width = int(c.uint(1))
			c.offset(is64)
		} else {
			c.offset(is64)
			u.width = int(c.uint(1))
		}
		switch kind {
		case unitSkeleton, unitSplitCompile:
			c.uint(8)
		case unitType, unitSplitType:
			u.signature = c.uint(8)
			u.typeOffset = u.start + c.offset(is64)
		}
		if c.err != nil {
			break
		}
		if u.first = dwarf.Offset(c.off); c.off > u.end {
			break
		}
		if w := u.width; w == 2 || w == 4 || w == 8 {
			i.units = append(i.units, u)
		}
		c.seek(u.end)
	}
	// debug/dwarf has read the same headers: what is amiss it has refused.
	if len(i.units) == 0 {
		return fmt.Errorf("%w: .debug_info has no unit", ErrNoInfo)
	}
	return nil
}

// DWARF 5 §7.5.1, table 7.2.
const (
	unitCompile      = 1
	unitType         = 2
	unitSkeleton     = 4
	unitSplitCompile = 5
	unitSplitType    = 6
)

// unitOf returns the unit that an offset of .debug_info lies in, or nil.
func (i *Info) unitOf(off dwarf.Offset) *unit {
	k := sort.Search(len(i.units), func(k int) bool { return i.units[k].end > uint64(off) })
	if k == len(i.units) || i.units[k].first > off {
		return nil
	}
	return i.units[k]
}

// root reads the entry of a unit, and what it says of the unit.
func (i *Info) root(u *unit) (*dwarf.Entry, error) {
	if u.entry != nil {
		return u.entry, nil
	}
	e, err := i.read(u.first)
	if err != nil {
		return nil, err
	}
	e = &dwarf.Entry{Offset: e.Offset, Tag: e.Tag, Children: e.Children, Field: e.Field[:min(len(e.Field), 64)]}
	if language, ok := e.Val(dwarf.AttrLanguage).(int64); ok {
		u.language = languageOf(language)
	}
	u.base, _ = e.Val(dwarf.AttrLowpc).(uint64)
	if base, ok := e.Val(dwarf.AttrAddrBase).(int64); ok {
		u.addrBase = uint64(base)
	} else if base, ok := e.Val(attrGNUAddrBase).(int64); ok {
		u.addrBase = uint64(base)
	}
	if base, ok := e.Val(dwarf.AttrLoclistsBase).(int64); ok {
		u.loclistsBase = uint64(base)
	}
	u.entry = e
	return e, nil
}

// languageOf groups DW_LANG_ codes (DWARF 5 §7.12, and dwarfstd.org's list).
func languageOf(code int64) Language {
	switch code {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c: // C89, C, C99, C11, C17
		return C
	case 0x04, 0x1a, 0x21, 0x2b: // C++, C++11, C++14, C++17
		return CPlusPlus
	case 0x16:
		return Go
	case 0x1c:
		return Rust
	case 0x13:
		return D
	}
	return OtherLanguage
}

// Attributes and tags that package dwarf does not name.
const (
	attrGNUAddrBase       dwarf.Attr = 0x2133
	attrGNUCallSiteValue  dwarf.Attr = 0x2111
	attrGNUCallSiteTarget dwarf.Attr = 0x2113
	attrGNUTailCall       dwarf.Attr = 0x2115
	attrGNUVector         dwarf.Attr = 0x2107
	attrMIPSLinkageName   dwarf.Attr = 0x2007
	tagGNUCallSite        dwarf.Tag  = 0x4109
	tagGNUCallSiteParam   dwarf.Tag  = 0x410a
	tagGNUParameterPack   dwarf.Tag  = 0x4107
)

// read reads the entry at an offset of .debug_info, and leaves the reader after it.
func (i *Info) read(off dwarf.Offset) (*dwarf.Entry, error) {
	if i.unitOf(off) == nil {
		return nil, fmt.Errorf("%w: .debug_info+%#x is in no unit", ErrDebugInfo, off)
	}
	i.reader.Seek(off)
	e, err := i.next()
	if err == nil && (e == nil || e.Tag == 0) {
		err = fmt.Errorf("%w: .debug_info+%#x: no entry", ErrDebugInfo, off)
	}
	return e, err
}

// next reads the entry after that which was read last; it is nil at the end of
// the section.
func (i *Info) next() (*dwarf.Entry, error) {
	e, err := i.reader.Next()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDebugInfo, err)
	}
	n := 1
	if e != nil {
		n += len(e.Field)
		for k := range e.Field {
			if s, ok := e.Field[k].Val.(string); ok {
				n += len(s) / 8
			}
		}
	}
	return e, i.spend(n)
}

// skip skips the children of e, which was read last. The reader's own
// SkipChildren recurses as deep as entries nest.
func (i *Info) skip(e *dwarf.Entry, u *unit) error {
	if !e.Children {
		return nil
	}
	if sibling, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && sibling > e.Offset && uint64(sibling) < u.end {
		i.reader.Seek(sibling)
		return nil
	}
	for depth := 1; depth > 0; {
		e, err := i.next()
		switch {
		case err != nil:
			return err
		case e == nil || uint64(e.Offset) >= u.end && e.Tag != 0:
			return nil
		case e.Tag == 0:
			depth--
		case e.Children:
			depth++
		}
	}
	return nil
}

// node is an entry with its children.
type node struct {
	*dwarf.Entry
	children []*node

	// What was made of the entry, nil before.
	ranges   [][2]uint64
	ranged   bool
	variable *Variable
	function *Function
}

// maxNesting bounds how deep the entries of one tree nest.
const maxNesting = 256

// tree reads the entry at an offset and all below it.
func (i *Info) tree(off dwarf.Offset) (*node, error) {
	u := i.unitOf(off)
	e, err := i.read(off)
	if err != nil {
		return nil, err
	}
	root := &node{Entry: e}
	if !e.Children {
		return root, nil
	}
	stack := []*node{root}
	for size := 0; len(stack) > 0; {
		e, err := i.next()
		if err != nil {
			return nil, err
		}
		if e != nil {
			if size += 2 + len(e.Field); size > i.mostRetained() {
				return nil, fmt.Errorf("%w: .debug_info+%#x: more attributes below it than %#x bytes can hold", ErrDebugInfo, off, len(i.info))
			}
		}
		if e == nil || e.Tag != 0 && uint64(e.Offset) >= u.end {
			break // the list is not closed
		}
		if e.Tag == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		n := &node{Entry: e}
		top := stack[len(stack)-1]
		top.children = append(top.children, n)
		if e.Children {
			if len(stack) == maxNesting {
				return nil, fmt.Errorf("%w: .debug_info+%#x: nested deeper than %d", ErrDebugInfo, e.Offset, maxNesting)
			}
			stack = append(stack, n)
		}
	}
	return root, nil
}

// children reads the entries directly below one.
func (i *Info) children(off dwarf.Offset) ([]*dwarf.Entry, error) {
	u := i.unitOf(off)
	e, err := i.read(off)
	if err != nil || !e.Children {
		return nil, err
	}
	var list []*dwarf.Entry
	for {
		e, err := i.next()
		if err != nil {
			return list, err
		}
		if e == nil || e.Tag == 0 || uint64(e.Offset) >= u.end {
			return list, nil
		}
		list = append(list, e)
		if err := i.skip(e, u); err != nil {
			return list, err
		}
	}
}

// attribute returns an attribute of e, or of what it is an instance or the
// definition of (DWARF 5 §3.3.8.2, §2.13.2).
func (i *Info) attribute(e *dwarf.Entry, a dwarf.Attr) (any, error) {
	for range 16 {
		if f := e.AttrField(a); f != nil {
			return f.Val, nil
		}
		off, ok := origin(e)
		if !ok {
			return nil, nil
		}
		var err error
		if e, err = i.read(off); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: .debug_info+%#x: %w", ErrDebugInfo, e.Offset, errLoop)
}

func origin(e *dwarf.Entry) (dwarf.Offset, bool) {
	if off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		return off, true
	}
	off, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset)
	return off, ok
}

// origins returns e and the entries that it refers to as its origin, in turn.
func (i *Info) origins(e *dwarf.Entry) []*dwarf.Entry {
	list := []*dwarf.Entry{e}
	for len(list) < 16 {
		off, ok := origin(e)
		if !ok {
			break
		}
		next, err := i.read(off)
		if err != nil {
			break
		}
		e = next
		list = append(list, e)
	}
	return list
}

// attribute is a location or a value that an entry says: bytes of its own, or
// the offset of a location list.
type attribute struct {
	bytes  []byte // of a block or an expression, a copy
	number int64  // of a constant
	list   uint64 // offset in .debug_loc or .debug_loclists
	text   string
	kind   attributeKind
}

type attributeKind uint8

const (
	attributeAbsent attributeKind = iota
	attributeBlock
	attributeConstant
	attributeList
	attributeText
	attributeEntry // list is the offset of an entry
	attributeDamaged
)

// valueOf returns what an entry of a unit has as DW_AT_location, DW_AT_const_value,
// DW_AT_frame_base and such.
func (i *Info) valueOf(e *dwarf.Entry, a dwarf.Attr, u *unit) attribute {
	f := e.AttrField(a)
	if f == nil {
		return attribute{}
	}
	switch v := f.Val.(type) {
	case []byte:
		return attribute{kind: attributeBlock, bytes: bytes.Clone(v)}
	case string:
		return attribute{kind: attributeText, text: v}
	case uint64: // DW_FORM_loclistx
		if f.Class != dwarf.ClassLocList {
			return attribute{kind: attributeConstant, number: int64(v)}
		}
		list, err := i.listOffset(u, v)
		if err != nil {
			return attribute{kind: attributeDamaged}
		}
		return attribute{kind: attributeList, list: list}
	case int64:
		// DWARF 2 and 3 have no form of its own for the offset of a list.
		if f.Class == dwarf.ClassLocListPtr || a == dwarf.AttrLocation || a == dwarf.AttrFrameBase {
			return attribute{kind: attributeList, list: uint64(v)}
		}
		return attribute{kind: attributeConstant, number: v}
	}
	return attribute{kind: attributeDamaged}
}
