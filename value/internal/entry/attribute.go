// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"bytes"
	"debug/dwarf"

	"github.com/clewdev/clew/object"
)

// Attribute is a location or a value of an entry: bytes, a number, a text, or the offset of a
// location list.
type Attribute struct {
	Bytes  []byte // of a block or an expression, a copy
	Number int64  // of a constant
	List   uint64 // offset in .debug_loc or .debug_loclists
	Text   string
	Kind   AttributeKind
}

type AttributeKind uint8

const (
	AttributeAbsent AttributeKind = iota
	AttributeBlock
	AttributeConstant
	AttributeList
	AttributeText
	AttributeEntry // List is the offset of an entry
	AttributeDamaged
)

// ValueOf returns an attribute of an entry of u, such as DW_AT_location, DW_AT_const_value or
// DW_AT_frame_base.
func (r *Reader) ValueOf(e *object.DebugEntry, a dwarf.Attr, u *Unit) Attribute {
	if !e.Has(a) {
		return Attribute{}
	}
	if b, ok := e.Block(a); ok {
		return Attribute{Kind: AttributeBlock, Bytes: bytes.Clone(b)}
	}
	if n, ok := e.ListIndex(a); ok {
		list, err := r.listOffset(u, n)
		if err != nil {
			return Attribute{Kind: AttributeDamaged}
		}
		return Attribute{Kind: AttributeList, List: list}
	}
	if offset, ok := e.List(a); ok {
		return Attribute{Kind: AttributeList, List: offset}
	}
	if n, ok := e.Number(a); ok {
		// DWARF 2 and 3 have no form for the offset of a list alone.
		if a == dwarf.AttrLocation || a == dwarf.AttrFrameBase {
			return Attribute{Kind: AttributeList, List: uint64(n)}
		}
		return Attribute{Kind: AttributeConstant, Number: n}
	}
	if address, ok := e.Address(a); ok {
		return Attribute{Kind: AttributeConstant, Number: int64(address)}
	}
	if s, ok := e.Text(a); ok {
		return Attribute{Kind: AttributeText, Text: s}
	}
	return Attribute{Kind: AttributeDamaged}
}
