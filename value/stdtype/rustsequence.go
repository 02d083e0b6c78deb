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
func reference(r instance) print.Presentation {
	t := r.Type().Strip()
	length := uintOf(r.FieldByName("length"))
	data := r.FieldByName("data_ptr")
	at := uintOf(data)
	name := strings.TrimPrefix(strings.TrimPrefix(t.Name(), "&"), "mut ")
	elem := data.Type().Strip().Elem()
	switch {
	case name == "str":
		return characters(r, elem, at, length)
	case name == "std::path::Path" || strings.HasPrefix(name, "std::ffi::") && lastOf(name) == "OsStr":
		return characters(r, value.CharOf(t.Machine()), at, length)
	}
	rejectIf(!strings.HasPrefix(name, "["))
	return sized(t.Name(), length, run(elem, at, length, r.Frame()))
}

// rustText presents a String, an OsString or a PathBuf, which contain a Vec of bytes.
func rustText(s instance) print.Presentation {
	return characters(s, value.CharOf(s.Type().Machine()), number(s.Value, "pointer"), number(s.Value, "len"))
}

// cString presents a CString, which contains a slice with the text and a zero byte.
func cString(s instance) print.Presentation {
	length := number(s.Value, "length")
	rejectIf(length == 0)
	return characters(s, value.CharOf(s.Type().Machine()), number(s.Value, "data_ptr"), length-1)
}

// wideBox presents a Box of a str or a slice. Others are pointers.
func wideBox(b instance) print.Presentation {
	data := b.FieldByName("data_ptr")
	at, length := uintOf(data), uintOf(b.FieldByName("length"))
	_, arguments, _ := strings.Cut(b.Type().Strip().Name(), "<")
	if isText(arguments) {
		return characters(b, value.CharOf(b.Type().Machine()), at, length)
	}
	rejectIf(!strings.HasPrefix(arguments, "["))
	return sized("Box", length, run(data.Type().Strip().Elem(), at, length, b.Frame()))
}

// isText reports whether type arguments begin with str.
func isText(arguments string) bool {
	return strings.HasPrefix(arguments, "str,") || strings.HasPrefix(arguments, "str>")
}

func rustVector(v instance) print.Presentation {
	length := uintOf(v.FieldByName("len"))
	elem := argument(v.Type(), 0)
	capacity, err := bare(within(v.Value, "cap")).Uint()
	rejectIf(elem == nil || err == nil && length > capacity && elem.Size() > 0)
	return sized("Vec", length, run(elem, number(v.Value, "pointer"), length, v.Frame()))
}

// rustDeque presents a VecDeque: a ring. Before Rust 1.67 it had an end instead of a length.
func rustDeque(d instance) print.Presentation {
	at, capacity, head := number(d.Value, "pointer"), number(d.Value, "cap"), number(d.Value, "head")
	elem := argument(d.Type(), 0)
	rejectIf(elem == nil || capacity == 0 && elem.Size() > 0 && head > 0)
	length, err := d.FieldByName("len").Uint()
	if err != nil {
		tail := uintOf(d.FieldByName("tail"))
		rejectIf(capacity == 0)
		head, length = tail, (head-tail)%capacity
	}
	rejectIf(length > capacity && elem.Size() > 0)
	return sized("VecDeque", length, elements(length, func(i uint64) value.Value {
		place := uint64(0)
		if elem.Size() > 0 {
			place = (head + i) % capacity
		}
		return value.At(elem, at+place*elem.Size(), d.Frame())
	}))
}
