// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"
	"iter"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// rustTypes are the presenters of types of Rust's library by their names without type arguments.
// Those of references and of NonZero are found by prefixes.
var rustTypes = map[string]presenter{
	"alloc::string::String": rustText, "std::ffi::os_str::OsString": rustText, "std::path::PathBuf": rustText,
	"alloc::ffi::c_str::CString": cString, "std::ffi::c_str::CString": cString,
	"alloc::boxed::Box": wideBox, "alloc::vec::Vec": rustVector, "alloc::collections::vec_deque::VecDeque": rustDeque,
	"std::collections::hash::map::HashMap": rustHashTable, "std::collections::hash::set::HashSet": rustHashTable,
	"alloc::collections::btree::map::BTreeMap": rustTree, "alloc::collections::btree::set::BTreeSet": rustTree,
	"alloc::rc::Rc": rustCounted, "alloc::sync::Arc": rustCounted,
	"core::cell::Cell": rustCell, "core::cell::RefCell": rustRefCell, "core::cell::Ref": rustBorrowed, "core::cell::RefMut": rustBorrowed,
}

// lastOf returns a name without its modules.
func lastOf(name string) string { return name[strings.LastIndex(name, ":")+1:] }

// maxWithin bounds the number of nested fields that are searched for one.
const maxWithin = 64

// within returns the field with a name in a value or in its nested fields. Releases of the library
// differ in the types that wrap a pointer or a number.
func within(v value.Value, name string) value.Value {
	left := maxWithin
	if found, ok := search(v, name, &left); ok {
		return found
	}
	return v.FieldByName(name) // for its error
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

// bare removes the structures around a value that contain nothing else: of an atomic number it is
// the number.
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
				only = k // the last one of a union
			}
		}
		if only < 0 {
			break
		}
		v = v.Field(only)
	}
	return v
}

// number returns the number in a nested field.
func number(v value.Value, name string) uint64 { return uintOf(bare(within(v, name))) }

// sized presents a container in the form of gdb's printers for Rust.
func sized(name string, length uint64, children iter.Seq[print.Child]) print.Presentation {
	return print.Presentation{Text: fmt.Sprintf("%s(size=%d)", name, length), Children: children}
}

func rustNonZero(n instance) print.Presentation {
	held := bare(n.Value)
	rejectIf(held.Err() != nil || isStructure(held.Type()))
	return print.Presentation{Value: held}
}
