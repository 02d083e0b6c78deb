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

// maxStride bounds the distance between the elements of an array, in bits.
const maxStride = 1 << 40

// readDimensions reads the element type and the bounds of an array. An array of several
// dimensions becomes an array of arrays. Where the first dimension varies fastest, as in
// Fortran, the last one is the outermost.
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
	order, hasOrder := e.Number(dwarf.AttrOrdering)
	if hasOrder && order == columnMajor || !hasOrder && t.language == Fortran {
		slices.Reverse(dimensions)
	}
	for k := len(dimensions) - 1; k >= 0; k-- {
		a := t
		if k > 0 {
			a = &Type{machine: i.machine, info: i, language: t.language, kind: Array, ready: true, unit: t.unit, vector: t.vector}
		}
		a.elem = element
		a.readBounds(dimensions[k])
		if k == len(dimensions)-1 {
			a.readStride(e)
		}
		element = a
	}
	if len(dimensions) == 0 {
		t.elem = element
	}
	t.readDescriptor(e)
	return err
}

// readBounds reads the bounds of a dimension and the distance between its elements (DWARF 5
// §5.13).
func (t *Type) readBounds(e *object.DebugEntry) {
	lower, known := e.Number(dwarf.AttrLowerBound)
	if !known && !t.readDynamic(e, dwarf.AttrLowerBound, lowerBound) {
		lower, known = entry.LowerBound(t.language)
		if !known && e.Has(dwarf.AttrUpperBound) {
			t.problem = fmt.Errorf("%w: %v: no lower bound, and the language has no known default", ErrDebugInfo, e.Offset)
		}
	}
	t.lower, t.index = lower, t.info.indexOf(e)
	t.readStride(e)
	if n, ok := e.Number(dwarf.AttrCount); ok {
		t.setCount(n)
	} else if upper, ok := e.Number(dwarf.AttrUpperBound); !ok {
		_ = t.readDynamic(e, dwarf.AttrCount, elementCount) || t.readDynamic(e, dwarf.AttrUpperBound, upperBound)
	} else if known {
		t.setCount(upper - lower + 1)
	} else {
		t.dynamic = append(t.dynamic, dynamic{upperBound, entry.Attribute{Kind: entry.AttributeConstant, Number: upper}})
	}
}

// setCount sets the number of elements. gcc writes the upper bound of an array without
// elements as -1 in four bytes.
func (t *Type) setCount(n int64) {
	if n >= 0 && n != 1<<32 {
		t.count = uint64(n)
	}
	t.counted = true
}

// indexOf returns the index type of a dimension, or nil.
func (i *Info) indexOf(e *object.DebugEntry) *Type {
	if e.Tag == dwarf.TagEnumerationType {
		return i.typeAt(e.Offset)
	}
	if off, ok := i.entries.TypeReference(e); ok {
		return i.typeAt(off)
	}
	return nil
}

// readStride reads the distance between elements from the entry of an array or a dimension.
func (t *Type) readStride(e *object.DebugEntry) {
	if n, ok := e.Number(dwarf.AttrStrideSize); ok {
		t.setStride(n, 1)
	} else if n, ok := e.Number(dwarf.AttrStride); ok {
		t.setStride(n, 8)
	} else {
		t.readDynamic(e, dwarf.AttrStride, byteStride)
	}
}

// setStride sets the distance between elements. unit is in bits. The descriptors of arrays
// that are not allocated contain 0.
func (t *Type) setStride(n, unit int64) {
	if n > maxStride || n < -maxStride {
		t.problem = fmt.Errorf("%w: the elements of an array are %d apart", ErrDebugInfo, n)
		return
	}
	t.stride = n * unit
}

// readDynamic reads an attribute that is not a constant. It returns false if the entry does
// not have it.
func (t *Type) readDynamic(e *object.DebugEntry, a dwarf.Attr, p property) bool {
	if !e.Has(a) {
		return false
	}
	attribute := entry.Attribute{Kind: entry.AttributeEntry}
	if off, ok := e.Reference(a); ok {
		attribute.List = uint64(off)
	} else {
		attribute = t.info.entries.ValueOf(e, a, t.unit)
	}
	t.dynamic = append(t.dynamic, dynamic{p, attribute})
	return true
}

// readDescriptor reads how to find an array or string from the descriptor that its variable
// is (DWARF 5 §5.18).
func (t *Type) readDescriptor(e *object.DebugEntry) {
	t.readDynamic(e, dwarf.AttrDataLocation, dataLocation)
	t.readDynamic(e, dwarf.AttrAllocated, isAllocated)
	t.readDynamic(e, dwarf.AttrAssociated, isAssociated)
	t.readDynamic(e, dwarf.AttrRank, arrayRank)
}

// readText reads the character type of a string and where its length is (DWARF 5 §5.11).
func (t *Type) readText(e *object.DebugEntry) {
	if e.Has(dwarf.AttrType) {
		t.elem = t.info.elemOf(e)
	}
	if t.readDynamic(e, dwarf.AttrStringLength, stringLength) {
		t.count = uint64(t.info.machine.AddressSize)
		if n, ok := e.Number(dwarf.AttrStringLengthByteSize); ok {
			t.count = uint64(n)
		} else if n, ok := e.Number(dwarf.AttrStringLengthBitSize); ok {
			t.count = uint64(n) / 8
		} else if n, ok := e.Number(dwarf.AttrByteSize); ok && t.unit.Version < 5 {
			t.count = uint64(n) // before DWARF 5 the size of the length
		}
		if t.count < 1 || t.count > 8 {
			t.problem = fmt.Errorf("%w: %v: the length of a string has %d bytes", ErrDebugInfo, e.Offset, t.count)
		}
	}
	t.readDescriptor(e)
}

// step returns the distance between the elements of an array, in bits.
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

// isSpread reports whether there are gaps between the elements of an array, so that each is
// read by itself.
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

// readSpread reads the elements of an array into b.
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

// packedElement returns the element of an array at a bit offset. It has at most the given
// number of bits.
func (v Value) packedElement(elem *Type, offset, bits int64) Value {
	needsByte := false // the element must begin at a byte
	switch elem.Strip().kind {
	case Struct, Class, Union, Text, Set:
		needsByte = true
	}
	if offset < 0 || needsByte {
		return failed(elem, v.frame, fmt.Errorf("%w: an element %d bits into an array", ErrNoAddress, offset))
	}
	v.typ = elem
	v.bitOffset += uint64(offset)
	if elem.Strip().kind != Array {
		v.bitSize = min(uint64(bits), 8*elem.Size())
	}
	return v
}

// maxSet bounds the number of values that a set can contain.
const maxSet = 1 << 12

// readSet reads the values that a set can contain: those of its element type from the lower
// bound on. Each has a bit (DWARF 5 §5.10).
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
