// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"
	"math/bits"
	"slices"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
)

// columnMajor is DW_ORD_col_major (DWARF 5 §7.17).
const columnMajor = 1

// maxStride bounds the distance of the elements of an array, in bits.
const maxStride = 1 << 40

// readDimensions reads the element and the bounds of an array; one of several
// dimensions becomes an array of arrays. The last dimension is the outermost where the
// first one varies fastest, as in Fortran.
func (t *Type) readDimensions(e *object.DebugEntry) error {
	i := t.info
	element := i.elemOf(e)
	children, err := i.entries.Children(t.offset)
	var dimensions []*object.DebugEntry
	for k := range children {
		switch c := &children[k]; c.Tag {
		case dwarf.TagSubrangeType, dwarf.TagEnumerationType, dwarf.TagGenericSubrange:
			dimensions = append(dimensions, c)
		}
	}
	if len(dimensions) > maxChain {
		return fmt.Errorf("%w: %v: array of %d dimensions", ErrDebugInfo, t.offset, len(dimensions))
	}
	order, said := e.Number(dwarf.AttrOrdering)
	if said && order == columnMajor || !said && t.language == Fortran {
		slices.Reverse(dimensions)
	}
	for k := len(dimensions) - 1; k >= 0; k-- {
		a := t
		if k > 0 {
			a = &Type{machine: i.machine, info: i, language: t.language, kind: Array, ready: true, unit: t.unit, vector: t.vector}
		}
		a.elem = element
		a.readBounds(i, dimensions[k])
		if k == len(dimensions)-1 {
			a.readStride(i, e)
		}
		element = a
	}
	if len(dimensions) == 0 {
		t.elem = element
	}
	t.readPlace(e)
	return err
}

// readBounds reads where a dimension begins and ends, and how far apart its elements
// are (DWARF 5 §5.13).
func (t *Type) readBounds(i *Info, e *object.DebugEntry) {
	lower, known := e.Number(dwarf.AttrLowerBound)
	if !known && !t.isSaid(i, e, dwarf.AttrLowerBound, lowerBound) {
		lower, known = entry.LowerBound(t.language)
		if !known && e.Has(dwarf.AttrUpperBound) {
			t.problem = fmt.Errorf("%w: %v: no lower bound, and none is known for the language", ErrDebugInfo, e.Offset)
		}
	}
	t.lower, t.index = lower, i.indexOf(e)
	t.readStride(i, e)
	if n, ok := e.Number(dwarf.AttrCount); ok {
		t.setCount(n)
	} else if upper, ok := e.Number(dwarf.AttrUpperBound); !ok {
		_ = t.isSaid(i, e, dwarf.AttrCount, elementCount) || t.isSaid(i, e, dwarf.AttrUpperBound, upperBound)
	} else if known {
		t.setCount(upper - lower + 1)
	} else {
		t.dynamic = append(t.dynamic, dynamic{upperBound, entry.Attribute{Kind: entry.AttributeConstant, Number: upper}})
	}
}

// setCount sets the number of the elements. gcc writes -1 in four bytes as the upper
// bound of an array without elements.
func (t *Type) setCount(n int64) {
	if n >= 0 && n != 1<<32 {
		t.count = uint64(n)
	}
	t.counted = true
}

// indexOf returns the type of the index of a dimension, nil where it is not said.
func (i *Info) indexOf(e *object.DebugEntry) *Type {
	if e.Tag == dwarf.TagEnumerationType {
		return i.typeAt(e.Offset)
	}
	if off, ok := i.entries.TypeReference(e); ok {
		return i.typeAt(off)
	}
	return nil
}

// readStride reads how far apart elements are from the entry of an array or a dimension.
func (t *Type) readStride(i *Info, e *object.DebugEntry) {
	if n, ok := e.Number(dwarf.AttrStrideSize); ok {
		t.setStride(n, 1)
	} else if n, ok := e.Number(dwarf.AttrStride); ok {
		t.setStride(n, 8)
	} else {
		t.isSaid(i, e, dwarf.AttrStride, byteStride)
	}
}

// setStride sets the distance of the elements, in units of so many bits. It is 0 in the
// descriptors of what is not allocated.
func (t *Type) setStride(n int64, unit int64) {
	if n > maxStride || n < -maxStride {
		t.problem = fmt.Errorf("%w: the elements of an array are %d apart", ErrDebugInfo, n)
		return
	}
	t.stride = n * unit
}

// isSaid reads an attribute that is not a constant, and reports whether the entry has it.
func (t *Type) isSaid(i *Info, e *object.DebugEntry, a dwarf.Attr, p property) bool {
	if !e.Has(a) {
		return false
	}
	said := entry.Attribute{Kind: entry.AttributeEntry}
	if off, ok := e.Reference(a); ok {
		said.List = uint64(off)
	} else {
		said = i.entries.ValueOf(e, a, t.unit)
	}
	t.dynamic = append(t.dynamic, dynamic{p, said})
	return true
}

// readPlace reads what says where an array or string is that its variable only describes
// (DWARF 5 §5.18).
func (t *Type) readPlace(e *object.DebugEntry) {
	for a, p := range map[dwarf.Attr]property{
		dwarf.AttrDataLocation: dataLocation, dwarf.AttrAllocated: isAllocated, dwarf.AttrAssociated: isAssociated, dwarf.AttrRank: arrayRank,
	} {
		t.isSaid(t.info, e, a, p)
	}
}

// readText reads the characters of a string, and where its length is (DWARF 5 §5.11).
func (t *Type) readText(e *object.DebugEntry) {
	if e.Has(dwarf.AttrType) {
		t.elem = t.info.elemOf(e)
	}
	if t.isSaid(t.info, e, dwarf.AttrStringLength, stringLength) {
		t.count = uint64(t.info.machine.AddressSize)
		if n, ok := e.Number(dwarf.AttrStringLengthByteSize); ok {
			t.count = uint64(n)
		} else if n, ok := e.Number(dwarf.AttrStringLengthBitSize); ok {
			t.count = uint64(n) / 8
		} else if n, ok := e.Number(dwarf.AttrByteSize); ok && t.unit.Version < 5 {
			t.count = uint64(n) // where it was the size of the length
		}
		if t.count < 1 || t.count > 8 {
			t.problem = fmt.Errorf("%w: %v: the length of a string has %d bytes", ErrDebugInfo, e.Offset, t.count)
		}
	}
	t.readPlace(e)
}

// step returns the distance of the elements of an array, in bits.
func (t *Type) step() int64 {
	if t.stride != 0 {
		return t.stride
	}
	count, unit, packed := t.Elem().extent()
	if !packed {
		unit *= 8
	}
	high, low := bits.Mul64(count, unit)
	if high != 0 || low > maxStride || unit > 8*maxStride {
		return 8 * maxStride
	}
	return int64(low)
}

// isSpread reports whether the elements of an array do not fill the memory that they lie
// in: each is read for itself.
func (t *Type) isSpread() bool {
	for range maxChain {
		if t = t.named(); t.kind != Array {
			return false
		}
		if t.load(); t.stride != 0 && (t.stride%8 == 0 || t.stride < 0) {
			return true
		}
		t = t.Elem()
	}
	return false
}

// readSpread reads the elements of an array to b, one after another.
func (v Value) readSpread(b []byte, t *Type) error {
	size := t.Elem().Size()
	if size == 0 {
		return nil
	}
	for i := uint64(0); i < t.count && uint64(len(b)) >= size; i++ {
		elem := v.element(t, i)
		if err := elem.Err(); err != nil {
			return err
		}
		if err := elem.read(b[:size]); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// packedElement returns the element of an array at a bit offset, which has at most so
// many bits.
func (v Value) packedElement(elem *Type, offset, bits int64) Value {
	isWhole := false // it must begin at a byte
	switch elem.Strip().kind {
	case Struct, Class, Union, Text, Set:
		isWhole = true
	}
	if offset < 0 || isWhole {
		return failed(elem, v.frame, fmt.Errorf("%w: an element %d bits into an array", ErrNoAddress, offset))
	}
	v.typ = elem
	v.bitOffset += uint64(offset)
	if elem.Strip().kind != Array {
		v.bitSize = min(uint64(bits), 8*elem.Size())
	}
	return v
}

// maxSet is how many values a set can have that is read.
const maxSet = 1 << 12

// readSet reads of which values a set is: those of its type from the lower bound on, of
// which each has a bit (DWARF 5 §5.10).
func (t *Type) readSet(e *object.DebugEntry) {
	i := t.info
	t.elem = i.elemOf(e)
	upper, known := int64(0), false
	if off, ok := i.entries.TypeReference(e); ok {
		if of, err := i.entries.Read(off); err == nil {
			lower, _ := of.Number(dwarf.AttrLowerBound)
			t.lower = lower
			upper, known = of.Number(dwarf.AttrUpperBound)
		}
	}
	t.count = min(8*t.size, maxSet)
	if known && upper >= t.lower {
		t.count = min(t.count, uint64(upper-t.lower)+1)
	}
}
