// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"iter"
	"slices"

	"github.com/clewdev/clew/value"
)

// maxBases bounds the depth at which a base class is searched.
const maxBases = 16

// A subobject is a base class in a class, or the class itself.
type subobject struct {
	typ       *value.Type // without qualifiers
	path      []int       // the fields that lead to it
	offset    uint64      // in the class, unless isVirtual
	isVirtual bool        // the offset is in the object
}

// subobjects returns the class t and its base classes, depth first. Their number is bounded: in
// damaged debugging information a class can be its own base.
func subobjects(t *value.Type) iter.Seq[subobject] {
	left := maxSearched
	var visit func(s subobject, yield func(subobject) bool) bool
	visit = func(s subobject, yield func(subobject) bool) bool {
		if left--; left < 0 || !yield(s) {
			return false
		}
		if len(s.path) == maxBases || !isClass(s.typ) {
			return true
		}
		for k, f := range s.typ.Fields() {
			if !f.Base {
				continue
			}
			base := subobject{f.Type.Strip(), append(slices.Clone(s.path), k), s.offset + f.Offset, s.isVirtual || f.Virtual}
			if !visit(base, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(subobject) bool) { visit(subobject{typ: t.Strip()}, yield) }
}

// inObject returns the subobject of an object.
func (s *subobject) inObject(v value.Value) value.Value {
	for _, k := range s.path {
		v = v.Field(k)
	}
	return v
}

// findBase returns the first base class in a class that equals base, or is the class itself.
func findBase(class, base *value.Type) (s subobject, ok bool) {
	base = base.Strip()
	for s := range subobjects(class) {
		if s.typ.Equal(base) {
			return s, true
		}
	}
	return s, false
}

// baseOf returns the object of a base class in an object. If there are several, it fails.
func (e *Expression) baseOf(v value.Value, base *value.Type) (found value.Value, ok bool) {
	base = base.Strip()
	for s := range subobjects(v.Type()) {
		if !s.typ.Equal(base) {
			continue
		}
		inner := s.inObject(v)
		if ok {
			first, _ := found.Address()
			if address, _ := inner.Address(); address != first {
				panic(e.failure(errorf("base class '%s' is ambiguous in type '%s'", base, v.Type())))
			}
			continue
		}
		found, ok = inner, true
	}
	return found, ok
}

// hasMethod reports whether a class or a base of it has a method with a name.
func hasMethod(t *value.Type, name string) bool {
	for s := range subobjects(t) {
		members, _ := s.typ.Members() // those that cannot be read are not found
		if slices.ContainsFunc(members.Methods, func(m value.Method) bool { return m.Name == name }) {
			return true
		}
	}
	return false
}
