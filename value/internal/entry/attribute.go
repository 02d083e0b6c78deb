// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"bytes"
	"debug/dwarf"
	"errors"
	"fmt"
	"iter"
	"slices"

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

// MaxOrigins bounds the length of a chain of origins.
const MaxOrigins = 16

var ErrLoop = errors.New("references lead in a circle")

// Having returns the first of e and its origins that has an attribute, or nil (DWARF 5
// §3.3.8.2, §2.13.2).
func (r *Reader) Having(a dwarf.Attr, e *object.DebugEntry) (*object.DebugEntry, error) {
	for range MaxOrigins {
		if e.Has(a) {
			return e, nil
		}
		off, ok := Origin(e)
		if !ok {
			return nil, nil
		}
		var err error
		if e, err = r.Read(off); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: %v: %w", ErrDamaged, e.Offset, ErrLoop)
}

// Origin returns the entry that e is an instance or the definition of.
func Origin(e *object.DebugEntry) (object.DebugOffset, bool) {
	if off, ok := e.Reference(dwarf.AttrAbstractOrigin); ok {
		return off, true
	}
	off, ok := e.Reference(dwarf.AttrSpecification)
	return off, ok
}

// Origins yields e, its origin, the origin of that, and so on.
func (r *Reader) Origins(e *object.DebugEntry) iter.Seq[*object.DebugEntry] {
	return func(yield func(*object.DebugEntry) bool) {
		var met [MaxOrigins]object.DebugOffset
		for n := 0; e != nil && yield(e); n++ {
			met[n] = e.Offset
			e = r.originOf(e, met[:n+1])
		}
	}
}

// originOf reads the origin of e. It returns nil where e has no origin, and where that was
// met or is one too many.
func (r *Reader) originOf(e *object.DebugEntry, met []object.DebugOffset) *object.DebugEntry {
	off, ok := Origin(e)
	if !ok || len(met) == MaxOrigins || slices.Contains(met, off) {
		return nil
	}
	next, err := r.Read(off)
	if err != nil {
		return nil
	}
	return next
}

// IsDeclaration reports whether an entry declares only.
func IsDeclaration(e *object.DebugEntry) bool { return e.Flag(dwarf.AttrDeclaration) }
