// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import "github.com/clewdev/clew/arch"

// FuncOf returns the type of functions that return a result and take parameters,
// of which nothing is said where a variadic one has none. It keeps the slice.
func FuncOf(result *Type, parameters []*Type, variadic bool) *Type {
	return &Type{machine: result.machine, language: result.language, kind: Func, elem: result, params: parameters, varargs: variadic, ready: true}
}

// IntOf returns an integer type of a size in bytes, which no program declares:
// a register's part is one. One of a byte is a number, not a character.
func IntOf(m *arch.Machine, name string, size int, signed bool) *Type {
	return &Type{machine: m, kind: Int, name: name, size: uint64(size), sized: true, signed: signed, ready: true}
}

// CharOf returns the type char of C++ on a machine, for where no debugging information says
// what it is.
func CharOf(m *arch.Machine) *Type {
	return &Type{machine: m, language: CPlusPlus, kind: Char, name: "char", size: 1, sized: true, signed: true, ready: true}
}

// VectorOf returns the type of a vector register that has n elements of t.
func VectorOf(t *Type, n uint64) *Type {
	v := ArrayOf(t, n)
	v.vector = true
	return v
}

// UnionOf returns a union of fields, all at offset 0. It keeps the slice.
func UnionOf(m *arch.Machine, name string, fields []Field) *Type {
	u := &Type{machine: m, language: C, kind: Union, name: name, sized: true, fields: fields, ready: true}
	for _, f := range fields {
		u.size = max(u.size, f.Type.Size())
	}
	return u
}

// ArrayIn returns the type of arrays of n elements of t in a language.
func ArrayIn(l Language, t *Type, n uint64) *Type {
	a := ArrayOf(t, n)
	a.language = l
	return a
}

// TextOf returns the type of strings of Fortran whose characters are of a type and that have
// a size in bytes.
func TextOf(elem *Type, size uint64) *Type {
	return &Type{machine: elem.machine, language: Fortran, kind: Text, elem: elem, size: size, sized: true, ready: true}
}
