// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// run yields n elements of a type that follow each other in memory.
func run(t *value.Type, address, n uint64, f value.Frame) func(yield func(print.Child) bool) {
	return func(yield func(print.Child) bool) {
		for i := range n {
			if !yield(print.Child{Value: value.At(t, address+i*t.Size(), f)}) {
				return
			}
		}
	}
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
	return print.Presentation{Text: fmt.Sprintf("%s(size=%d)", t.Name(), length), Children: run(elem, at, length, r.Frame())}, true
}

// rustText presents a String, an OsString or a PathBuf, which hold a Vec of bytes.
func rustText(s instance) (print.Presentation, bool) {
	at, ok := number(s.Value, "pointer")
	length, lengthOK := number(s.Value, "len")
	if !ok || !lengthOK {
		return print.Presentation{}, false
	}
	return characters(s, value.CharOf(s.Type().Machine()), at, length)
}

// cString presents a CString, which holds a slice with the zero after its text.
func cString(s instance) (print.Presentation, bool) {
	at, ok := number(s.Value, "data_ptr")
	length, lengthOK := number(s.Value, "length")
	if !ok || !lengthOK || length == 0 {
		return print.Presentation{}, false
	}
	return characters(s, value.CharOf(s.Type().Machine()), at, length-1)
}

// wideBox presents a Box of a str or a slice; one of something else is a pointer.
func wideBox(b instance) (print.Presentation, bool) {
	data := b.FieldByName("data_ptr")
	at, err := data.Uint()
	length, lengthErr := b.FieldByName("length").Uint()
	_, of, _ := strings.Cut(b.Type().Strip().Name(), "<")
	switch {
	case err != nil || lengthErr != nil:
	case isText(of):
		return characters(b, value.CharOf(b.Type().Machine()), at, length)
	case strings.HasPrefix(of, "["):
		elem := data.Type().Strip().Elem()
		return print.Presentation{Text: fmt.Sprintf("Box(size=%d)", length), Children: run(elem, at, length, b.Frame())}, true
	}
	return print.Presentation{}, false
}

// isText reports whether the arguments of a type begin with str.
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
	return print.Presentation{Text: fmt.Sprintf("Vec(size=%d)", length), Children: run(elem, at, length, v.Frame())}, true
}

// rustDeque presents a VecDeque: a ring. Before Rust 1.67 it had its end, not its length.
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
	return print.Presentation{Text: fmt.Sprintf("VecDeque(size=%d)", length), Children: func(yield func(print.Child) bool) {
		for i := range length {
			place := uint64(0)
			if elem.Size() > 0 {
				place = (head + i) % capacity
			}
			if !yield(print.Child{Value: value.At(elem, at+place*elem.Size(), d.Frame())}) {
				return
			}
		}
	}}, true
}
