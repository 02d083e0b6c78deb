// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"strings"

	"github.com/clewdev/clew/internal/dw"
	"github.com/clewdev/clew/object"
)

const (
	maxMade          = 1000 // types that one is made of, at most
	passByReference  = 4    // DW_CC_pass_by_reference
	defaultedInClass = 1    // DW_DEFAULTED_in_class
)

// Indirect reports whether functions get and return objects of a C++ class by their
// addresses, whatever their size: it has virtual functions, or copying or destroying
// an object takes a function of the class, or of one that it is made of (Itanium C++
// ABI, non-trivial for the purposes of calls). Compilers may say so
// (DW_CC_pass_by_reference, DWARF 5 §5.7.1); of others the functions tell.
func (t *Type) Indirect() bool { return t.indirectAmong(make(map[*Type]bool)) }

// indirectAmong looks at each type once.
func (t *Type) indirectAmong(seen map[*Type]bool) bool {
	t = t.Strip()
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.kind {
	case Array:
		return len(seen) < maxMade && t.Elem().indirectAmong(seen)
	case Struct, Class, Union:
	default:
		return false
	}
	fields := t.Fields()
	if t.indirect || len(seen) >= maxMade {
		return true
	}
	for n := range fields {
		f := &fields[n]
		if f.Static == nil && (f.Virtual || f.Artificial || f.Type.indirectAmong(seen)) {
			return true
		}
	}
	return false
}

// copies reports whether a function of class t destroys its objects, or makes one of
// another one, in a way of its own.
func (t *Type) copies(e *object.DebugEntry) bool {
	if defaulted, _ := e.Number(dw.AttrDefaulted); defaulted == defaultedInClass {
		return false
	}
	if e.Flag(dwarf.AttrArtificial) {
		return false
	}
	name, _ := e.Text(dwarf.AttrName)
	if strings.HasPrefix(name, "~") {
		return true
	}
	class, _, _ := strings.Cut(t.name, "<")
	class = class[strings.LastIndexByte(class, ':')+1:]
	if bare, _, _ := strings.Cut(name, "<"); bare != class || class == "" {
		return false
	}
	parameters, err := t.info.children(e.Offset)
	if err != nil {
		return false
	}
	n := 0
	for k := range parameters {
		p := &parameters[k]
		if p.Tag != dwarf.TagFormalParameter {
			continue
		}
		if n++; n == 2 { // behind this
			return t.isReferredBy(p)
		}
	}
	return false
}

// isReferredBy reports whether the type of a parameter is a reference to t.
func (t *Type) isReferredBy(parameter *object.DebugEntry) bool {
	e, referred := parameter, false
	for range 4 { // the reference, const, volatile, t
		off, ok := t.info.typeReference(e)
		if !ok {
			return false
		}
		if off == t.offset {
			return referred
		}
		var err error
		if e, err = t.info.read(off); err != nil {
			return false
		}
		referred = referred || e.Tag == dwarf.TagReferenceType || e.Tag == dwarf.TagRvalueReferenceType
	}
	return false
}
