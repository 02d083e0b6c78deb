// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// rustPresenter returns what presents a type of Rust's library, by its name without the
// types that it is made with; nil of one that is not known.
func rustPresenter(name string) func(instance) (print.Presentation, bool) {
	if strings.HasPrefix(name, "&") {
		return reference
	}
	switch last := lastOf(name); strings.TrimSuffix(name, last) {
	case "alloc::string::", "std::ffi::os_str::", "std::path::":
		switch last {
		case "String", "OsString", "PathBuf":
			return rustText
		}
	case "alloc::ffi::c_str::", "std::ffi::c_str::":
		if last == "CString" {
			return cString
		}
	case "alloc::boxed::":
		if last == "Box" {
			return wideBox
		}
	case "alloc::vec::":
		if last == "Vec" {
			return rustVector
		}
	case "alloc::collections::vec_deque::":
		if last == "VecDeque" {
			return rustDeque
		}
	case "std::collections::hash::map::", "std::collections::hash::set::":
		if last == "HashMap" || last == "HashSet" {
			return rustHashTable
		}
	case "alloc::collections::btree::map::", "alloc::collections::btree::set::":
		if last == "BTreeMap" || last == "BTreeSet" {
			return rustTree
		}
	case "alloc::rc::", "alloc::sync::":
		if last == "Rc" || last == "Arc" {
			return rustCounted
		}
	case "core::cell::":
		switch last {
		case "Cell":
			return rustCell
		case "RefCell":
			return rustRefCell
		case "Ref", "RefMut":
			return rustBorrowed
		}
	case "core::num::nonzero::":
		if strings.HasPrefix(last, "NonZero") { // NonZeroU32 before Rust 1.79
			return rustNonZero
		}
	}
	return nil
}

// lastOf returns a name without the modules that it is in.
func lastOf(name string) string { return name[strings.LastIndex(name, ":")+1:] }

// maxWithin bounds how many fields within fields are looked at for one.
const maxWithin = 64

// within returns the field of a name, of a value or of what its fields are made of: releases
// of the library differ in what a pointer or a number is wrapped in.
func within(v value.Value, name string) value.Value {
	left := maxWithin
	if found, ok := search(v, name, &left); ok {
		return found
	}
	return v.FieldByName(name) // the error says that there is none
}

func search(v value.Value, name string, left *int) (value.Value, bool) {
	if v.Type() == nil || !isStructure(v.Type()) {
		return v, false
	}
	fields := v.Type().Strip().Fields()
	for k := range fields {
		if fields[k].Name == name {
			return v.Field(k), true
		}
	}
	for k := range fields {
		if *left--; *left < 0 {
			break
		}
		if found, ok := search(v.Field(k), name, left); ok {
			return found, true
		}
	}
	return v, false
}

func isStructure(t *value.Type) bool {
	switch t.Strip().Kind() {
	case value.Struct, value.Class, value.Union:
		return true
	}
	return false
}

// bare returns what is left of a value when all that holds nothing but it is taken away:
// the number of an atomic one.
func bare(v value.Value) value.Value {
	for range maxWithin {
		if v.Type() == nil || !isStructure(v.Type()) {
			break
		}
		only := -1
		for k, f := range v.Type().Strip().Fields() {
			if f.Type.Size() > 0 {
				if only >= 0 && f.Offset != v.Type().Strip().Fields()[only].Offset {
					return v
				}
				only = k // of a union the last one
			}
		}
		if only < 0 {
			break
		}
		v = v.Field(only)
	}
	return v
}

// number returns the number that a field within a value is, however it is wrapped.
func number(v value.Value, name string) (uint64, bool) {
	n, err := bare(within(v, name)).Uint()
	return n, err == nil
}

func rustNonZero(n instance) (print.Presentation, bool) {
	held := bare(n.Value)
	if held.Err() != nil || isStructure(held.Type()) {
		return print.Presentation{}, false
	}
	return print.Presentation{Value: held}, true
}
