// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/number"
)

// dynamic is a property of a type that depends on a frame or on an object of the type (DWARF 5
// §5.18, §5.13, §5.11).
type dynamic struct {
	property property
	entry.Attribute
}

type property uint8

const (
	lowerBound property = iota
	upperBound
	elementCount
	byteStride
	dataLocation
	isAllocated
	isAssociated
	arrayRank
	stringLength // the place of the length, unless that is a variable
	typeSize
)

// dynamicAttribute returns the attribute of a dynamic property, or nil.
func (t *Type) dynamicAttribute(p property) *entry.Attribute {
	for k := range t.dynamic {
		if t.dynamic[k].property == p {
			return &t.dynamic[k].Attribute
		}
	}
	return nil
}

// dynamicType returns the first type with dynamic properties: t without typedefs and
// qualifiers, or the type of its elements. It returns nil if there is none.
func (t *Type) dynamicType() *Type {
	for range maxChain {
		switch t.kind {
		case Typedef, Const, Volatile, Restrict, Atomic:
			t = t.Elem()
		case Array:
			if t.load(); t.dynamic != nil {
				return t
			}
			t = t.Elem()
		case Text, Struct, Class, Union:
			if t.load(); t.dynamic != nil {
				return t
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

// resolved returns a value with the actual type of its object. The object is a member of
// container, unless that is nil. Other members of container can determine the type.
func (v Value) resolved(container *Value) Value {
	if v.err != nil || v.typ == nil || v.frame == nil {
		return v
	}
	t := v.typ.dynamicType()
	if t == nil || t.info == nil {
		return v
	}
	e := newEvaluator(t.info, t.unit, bodyOf(t.info, v.frame), v.frame)
	defer e.release()
	e.container = container
	return e.resolveObject(v)
}

// bodyOf returns the function of a frame, or nil if it is in another object.
func bodyOf(i *Info, f Frame) (b *body) {
	if f.Info() != i {
		return nil
	}
	_, lookup := f.ProgramCounter()
	_ = i.locked(func() (err error) { // a frame outside of all functions has no variables
		b, err = i.bodyAt(lookup - f.Bias())
		return err
	})
	return b
}

// ErrNoLocation means that the descriptor of an array cannot be read.
//
//lint:ignore ST1005 gdb's own sentence
var ErrNoLocation = errors.New("Location address is not set.")

// resolveObject is resolved for a value in the evaluator's function.
func (e *evaluator) resolveObject(v Value) Value {
	if address, ok := v.Address(); ok {
		e.object, e.hasObject = address, true
	}
	t := v.typ.named()
	for _, state := range []struct {
		property
		error
	}{{isAllocated, ErrNotAllocated}, {isAssociated, ErrNotAssociated}} {
		if a := t.dynamicAttribute(state.property); a != nil && !v.OptimizedOut() {
			n, err := e.property(a, nil, nil)
			if err != nil {
				return failed(v.typ, v.frame, fmt.Errorf("%w: %w", ErrNoLocation, err))
			}
			if n == 0 {
				return failed(v.typ, v.frame, state.error)
			}
		}
	}
	if a := t.dynamicAttribute(dataLocation); a != nil && !v.OptimizedOut() {
		address, err := e.property(a, nil, nil)
		if err != nil {
			return failed(v.typ, v.frame, fmt.Errorf("%w: %w", ErrNoLocation, err))
		}
		return At(e.resolve(v.typ, 0), e.mask(uint64(address)), v.frame)
	}
	v.typ = e.resolve(v.typ, 0)
	if len(v.pieces) == 1 && v.pieces[0].BitSize == 0 {
		v.pieces[0].BitSize = bitsOf(v.typ.Size())
	}
	return v
}

// resolve returns a type with the properties that depend on a frame and an object: the bounds
// of an array, the length of a string, the size of a structure. Unknown properties stay
// unknown.
func (e *evaluator) resolve(t *Type, depth int) *Type {
	if e.budget.steps++; depth == maxChain || e.depth > maxCalls || e.budget.steps > maxSteps {
		return t
	}
	switch t.kind {
	case Typedef, Const, Volatile, Restrict, Atomic:
		elem := t.Elem()
		if r := e.resolve(elem, depth+1); r != elem {
			return &Type{machine: t.machine, language: t.language, kind: t.kind, name: t.name, elem: r, ready: true}
		}
	case Array:
		return e.resolveArray(t, depth)
	case Text:
		if t.load(); t.dynamic != nil {
			return e.resolveText(t)
		}
	case Struct, Class, Union:
		if t.load(); t.dynamic != nil {
			return e.resolveSize(t)
		}
	}
	return t
}

func (e *evaluator) resolveArray(t *Type, depth int) *Type {
	if rank := t.dynamicAttribute(arrayRank); rank != nil {
		return e.resolveRank(t, rank)
	}
	elem := t.Elem() // which reads the bounds too
	r := elem
	if elem.named().dynamicAttribute(dataLocation) == nil { // else each element has its own properties
		r = e.resolve(elem, depth+1)
	}
	if r == elem && t.dynamic == nil {
		return t
	}
	a := &Type{machine: t.machine, language: t.language, kind: Array, name: t.name, elem: r, count: t.count, counted: t.counted,
		lower: t.lower, stride: t.stride, index: t.index, problem: t.problem, ready: true, unit: t.unit}
	a.lazy = t.dynamicAttribute(isAllocated) != nil
	e.bound(a, t, nil)
	return a
}

// bound gives an array the bounds that t has in the frame. If the number of dimensions depends
// on the object, rank is the number of the dimension, else it is nil.
func (e *evaluator) bound(a, t *Type, rank *int64) {
	lower, known := a.lower, true
	if p := t.dynamicAttribute(lowerBound); p != nil {
		n, err := e.property(p, rank, t.index)
		if known = err == nil; known {
			lower = n
		}
	}
	if p := t.dynamicAttribute(byteStride); p != nil {
		if n, err := e.property(p, rank, nil); err == nil {
			a.setStride(n, 8)
		} else {
			known = false
		}
	}
	if stride := a.stride; stride != 0 {
		if a.stride = 0; stride != a.step() {
			a.stride = stride
		}
	}
	var count int64
	var err error
	if p := t.dynamicAttribute(elementCount); p != nil {
		count, err = e.property(p, rank, nil)
	} else if p := t.dynamicAttribute(upperBound); p != nil {
		if count, err = e.property(p, rank, t.index); err == nil {
			count = max(0, count-lower+1)
		}
	} else {
		return
	}
	if known && err == nil && count >= 0 && count < 1<<40 {
		a.lower, a.count, a.counted = lower, uint64(count), true
	}
}

// resolveRank returns an array with the number of dimensions of its object (DWARF 5 §5.5 and
// §5.13, DW_TAG_generic_subrange).
func (e *evaluator) resolveRank(t *Type, rank *entry.Attribute) *Type {
	n, err := e.property(rank, nil, nil)
	if err != nil || n < 1 || n > maxChain {
		return t
	}
	a := t.Elem()
	for k := range n { // the first varies fastest, because only Fortran has such arrays
		outer := &Type{machine: t.machine, language: t.language, kind: Array, elem: a, lower: t.lower, index: t.index, ready: true, unit: t.unit}
		e.bound(outer, t, &k)
		a = outer
	}
	return a
}

func (e *evaluator) resolveText(t *Type) *Type {
	p := t.dynamicAttribute(stringLength)
	if p == nil {
		return t
	}
	n, err := e.property(p, nil, nil)
	if err == nil && p.Kind != entry.AttributeEntry {
		var b []byte
		if b, err = e.memory(uint64(n), t.count); err == nil {
			n = int64(number.Uint(t.machine.Order, b))
		}
	}
	known := err == nil && n <= 1<<40
	if !known {
		n = 0
	}
	return &Type{machine: t.machine, language: t.language, kind: Text, name: t.name, elem: t.elem, size: uint64(max(0, n)), sized: known, ready: true, lazy: true}
}

func (e *evaluator) resolveSize(t *Type) *Type {
	p := t.dynamicAttribute(typeSize)
	if p == nil {
		return t
	}
	n, err := e.property(p, nil, nil)
	if err != nil || n < 0 || n > 1<<40 {
		return t
	}
	return &Type{machine: t.machine, info: t.info, unit: t.unit, offset: t.offset, language: t.language, kind: t.kind, name: t.name,
		size: uint64(n), sized: true, ready: true, fields: t.fields, variants: t.variants, align: t.align, declared: t.declared}
}

// property returns the value of a property. If index is not nil, it is on the stack before the
// expression is evaluated. A number shorter than an address is extended if t is signed.
func (e *evaluator) property(a *entry.Attribute, index *int64, t *Type) (int64, error) {
	switch a.Kind {
	case entry.AttributeConstant:
		return a.Number, nil
	case entry.AttributeEntry:
		return e.entryNumber(object.DebugOffset(a.List))
	}
	inner := e.within(e.info, e.unit, e.body, e.frame)
	defer inner.release()
	inner.object, inner.hasObject = e.object, e.hasObject
	if index != nil {
		if err := inner.push(element{lo: uint64(*index)}); err != nil {
			return 0, err
		}
	}
	p, err := inner.expression(a)
	if err == nil && p == nil {
		err = errUnknownInFrame
	}
	if err != nil {
		return 0, err
	}
	v, err := inner.number(p)
	if err != nil {
		return 0, err
	}
	if t != nil {
		if t = t.Strip(); t.size < 8 && t.Signed() {
			return int64(number.SignExtend(v.lo, 8*t.size)), nil
		}
	}
	return int64(v.lo), nil
}

// entryNumber returns the value of the variable at an offset of .debug_info, or of the member
// of the container that is described there.
func (e *evaluator) entryNumber(off object.DebugOffset) (int64, error) {
	var member *Field
	var inContainer bool
	err := e.info.locked(func() error {
		d, err := e.info.entries.Read(off)
		if err != nil || d.Tag != dwarf.TagMember {
			return err
		}
		f := e.info.member(d)
		member = &f
		if e.container != nil {
			t := e.container.typ.named()
			var children []object.DebugEntry
			children, err = e.info.entries.Children(t.offset)
			inContainer = t.info == e.info && slices.ContainsFunc(children, func(c object.DebugEntry) bool { return c.Offset == off })
		}
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case member == nil:
		b := e.body
		if b != nil && b.root.Find(func(n *node) bool { return n.Offset == off }) == nil {
			b = nil // it belongs to a frame of another function, or to none
		}
		n, err := e.variableNumber(off, b)
		return int64(n), err
	case !inContainer || member.Virtual:
		return 0, fmt.Errorf("%w: member %v of an unknown structure", ErrDebugInfo, off)
	case member.Static != nil || member.Type.dynamicType() != nil:
		// The type can depend on the same member again.
		return 0, fmt.Errorf("%w: member %v is not a number", ErrDebugInfo, off)
	}
	n, err := e.container.Member(member).Uint()
	return int64(n), err
}
