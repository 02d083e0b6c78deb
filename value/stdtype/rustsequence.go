// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"iter"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// run yields n adjacent elements in memory.
func run(t *value.Type, address, n uint64, f value.Frame) iter.Seq[print.Child] {
	return elements(n, func(i uint64) value.Value { return value.At(t, address+i*t.Size(), f) })
}

// reference presents a slice, a str or a Path.
func reference(r instance) (print.Presentation, bool) {
	t := r.Type().Strip()
	length, err := r.FieldByName("length").Uint()
	data := r.FieldByName("data_ptr")
	at, dataErr := data.Uint()
	if err != nil || dataErr != nil {
		return print.Presentation{}, false
	}
	name := strings.TrimPrefix(strings.TrimPrefix(t.Name(), "&"), "mut ")
	elem := data.Type().Strip().Elem()
	switch {
	case name == "str":
		return characters(r, elem, at, length)
	case name == "std::path::Path" || strings.HasPrefix(name, "std::ffi::") && lastOf(name) == "OsStr":
		return characters(r, value.CharOf(t.Machine()), at, length)
	case !strings.HasPrefix(name, "["):
		return print.Presentation{}, false
	}
	return sized(t.Name(), length, run(elem, at, length, r.Frame())), true
}

// rustText presents a String, an OsString or a PathBuf, which contain a Vec of bytes.
func rustText(s instance) (print.Presentation, bool) {
	at, ok := number(s.Value, "pointer")
	length, lengthOK := number(s.Value, "len")
	if !ok || !lengthOK {
		return print.Presentation{}, false
	}
	return characters(s, value.CharOf(s.Type().Machine()), at, length)
}

// cString presents a CString, which contains a slice with the text and a zero byte.
func cString(s instance) (print.Presentation, bool) {
	at, ok := number(s.Value, "data_ptr")
	length, lengthOK := number(s.Value, "length")
	if !ok || !lengthOK || length == 0 {
		return print.Presentation{}, false
	}
	return characters(s, value.CharOf(s.Type().Machine()), at, length-1)
}

// wideBox presents a Box of a str or a slice. Others are pointers.
func wideBox(b instance) (print.Presentation, bool) {
	data := b.FieldByName("data_ptr")
	at, err := data.Uint()
	length, lengthErr := b.FieldByName("length").Uint()
	_, arguments, _ := strings.Cut(b.Type().Strip().Name(), "<")
	switch {
	case err != nil || lengthErr != nil:
	case isText(arguments):
		return characters(b, value.CharOf(b.Type().Machine()), at, length)
	case strings.HasPrefix(arguments, "["):
		elem := data.Type().Strip().Elem()
		return sized("Box", length, run(elem, at, length, b.Frame())), true
	}
	return print.Presentation{}, false
}

// isText reports whether type arguments begin with str.
func isText(arguments string) bool {
	return strings.HasPrefix(arguments, "str,") || strings.HasPrefix(arguments, "str>")
}

func rustVector(v instance) (print.Presentation, bool) {
	at, ok := number(v.Value, "pointer")
	length, err := v.FieldByName("len").Uint()
	elem := argument(v.Type(), 0)
	if capacity, known := number(v.Value, "cap"); !ok || err != nil || elem == nil || known && length > capacity && elem.Size() > 0 {
		return print.Presentation{}, false
	}
	return sized("Vec", length, run(elem, at, length, v.Frame())), true
}

// rustDeque presents a VecDeque: a ring. Before Rust 1.67 it had an end instead of a length.
func rustDeque(d instance) (print.Presentation, bool) {
	at, ok := number(d.Value, "pointer")
	capacity, capacityOK := number(d.Value, "cap")
	head, headOK := number(d.Value, "head")
	elem := argument(d.Type(), 0)
	if !ok || !capacityOK || !headOK || elem == nil || capacity == 0 && elem.Size() > 0 && head > 0 {
		return print.Presentation{}, false
	}
	length, err := d.FieldByName("len").Uint()
	if err != nil {
		tail, tailErr := d.FieldByName("tail").Uint()
		if tailErr != nil || capacity == 0 {
			return print.Presentation{}, false
		}
		head, length = tail, (head-tail)%capacity
	}
	if length > capacity && elem.Size() > 0 {
		return print.Presentation{}, false
	}
	return sized("VecDeque", length, elements(length, func(i uint64) value.Value {
		place := uint64(0)
		if elem.Size() > 0 {
			place = (head + i) % capacity
		}
		return value.At(elem, at+place*elem.Size(), d.Frame())
	})), true
}
