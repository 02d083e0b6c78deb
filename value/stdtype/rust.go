// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stdtype

import (
	"fmt"
	"strings"

	"github.com/clewdev/clew/value"
)

// rustPresenter returns what presents a type of Rust's library, by its name without the
// types that it is made with; nil of one that is not known.
func rustPresenter(name string) func(instance) (value.Presentation, bool) {
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
	return v.FieldByName(name) // which tells that there is none
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

// run yields n elements of a type that follow each other in memory.
func run(t *value.Type, address, n uint64, f value.Frame) func(yield func(value.Child) bool) {
	return func(yield func(value.Child) bool) {
		for i := range n {
			if !yield(value.Child{Value: value.At(t, address+i*t.Size(), f)}) {
				return
			}
		}
	}
}

// reference presents a slice, a str or a Path.
func reference(r instance) (value.Presentation, bool) {
	t := r.Type().Strip()
	length, err := r.FieldByName("length").Uint()
	data := r.FieldByName("data_ptr")
	at, dataErr := data.Uint()
	if err != nil || dataErr != nil {
		return value.Presentation{}, false
	}
	name := strings.TrimPrefix(strings.TrimPrefix(t.Name(), "&"), "mut ")
	elem := data.Type().Strip().Elem()
	switch {
	case name == "str":
		return characters(r, elem, at, length)
	case name == "std::path::Path" || strings.HasPrefix(name, "std::ffi::") && lastOf(name) == "OsStr":
		return characters(r, value.CharOf(t.Machine()), at, length)
	case !strings.HasPrefix(name, "["):
		return value.Presentation{}, false
	}
	return value.Presentation{Text: fmt.Sprintf("%s(size=%d)", t.Name(), length), Children: run(elem, at, length, r.Frame())}, true
}

// rustText presents a String, an OsString or a PathBuf, which hold a Vec of bytes.
func rustText(s instance) (value.Presentation, bool) {
	at, ok := number(s.Value, "pointer")
	length, lengthOK := number(s.Value, "len")
	if !ok || !lengthOK {
		return value.Presentation{}, false
	}
	return characters(s, value.CharOf(s.Type().Machine()), at, length)
}

// cString presents a CString, which holds a slice with the zero behind its text.
func cString(s instance) (value.Presentation, bool) {
	at, ok := number(s.Value, "data_ptr")
	length, lengthOK := number(s.Value, "length")
	if !ok || !lengthOK || length == 0 {
		return value.Presentation{}, false
	}
	return characters(s, value.CharOf(s.Type().Machine()), at, length-1)
}

// wideBox presents a Box of a str or a slice; one of something else is a pointer.
func wideBox(b instance) (value.Presentation, bool) {
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
		return value.Presentation{Text: fmt.Sprintf("Box(size=%d)", length), Children: run(elem, at, length, b.Frame())}, true
	}
	return value.Presentation{}, false
}

// isText reports whether the arguments of a type begin with str.
func isText(arguments string) bool {
	return strings.HasPrefix(arguments, "str,") || strings.HasPrefix(arguments, "str>")
}

func rustVector(v instance) (value.Presentation, bool) {
	at, ok := number(v.Value, "pointer")
	length, err := v.FieldByName("len").Uint()
	elem := argument(v.Type(), 0)
	if capacity, known := number(v.Value, "cap"); !ok || err != nil || elem == nil || known && length > capacity && elem.Size() > 0 {
		return value.Presentation{}, false
	}
	return value.Presentation{Text: fmt.Sprintf("Vec(size=%d)", length), Children: run(elem, at, length, v.Frame())}, true
}

// rustDeque presents a VecDeque: a ring. Before Rust 1.67 its end was told, not its length.
func rustDeque(d instance) (value.Presentation, bool) {
	at, ok := number(d.Value, "pointer")
	capacity, capacityOK := number(d.Value, "cap")
	head, headOK := number(d.Value, "head")
	elem := argument(d.Type(), 0)
	if !ok || !capacityOK || !headOK || elem == nil || capacity == 0 && elem.Size() > 0 && head > 0 {
		return value.Presentation{}, false
	}
	length, err := d.FieldByName("len").Uint()
	if err != nil {
		tail, tailErr := d.FieldByName("tail").Uint()
		if tailErr != nil || capacity == 0 {
			return value.Presentation{}, false
		}
		head, length = tail, (head-tail)%capacity
	}
	if length > capacity && elem.Size() > 0 {
		return value.Presentation{}, false
	}
	return value.Presentation{Text: fmt.Sprintf("VecDeque(size=%d)", length), Children: func(yield func(value.Child) bool) {
		for i := range length {
			place := uint64(0)
			if elem.Size() > 0 {
				place = (head + i) % capacity
			}
			if !yield(value.Child{Value: value.At(elem, at+place*elem.Size(), d.Frame())}) {
				return
			}
		}
	}}, true
}

// rustHashTable presents a HashMap or a HashSet: a byte for each place tells with its
// highest bit that there is none, and what is there lies before the bytes, backwards.
func rustHashTable(m instance) (value.Presentation, bool) {
	table := within(m.Value, "table")
	var elem *value.Type
	if table.Type() != nil {
		elem = argument(table.Type(), 0)
	}
	control, ok := number(within(table, "ctrl"), "pointer")
	mask, maskOK := number(table, "bucket_mask")
	length, lengthOK := number(table, "items")
	if elem == nil || !ok || !maskOK || !lengthOK || mask&(mask+1) != 0 || length > mask+1 {
		return value.Presentation{}, false
	}
	isMap := m.template == "HashMap"
	return value.Presentation{Text: fmt.Sprintf("%s(size=%d)", m.template, length), Children: func(yield func(value.Child) bool) {
		found := uint64(0)
		for at := uint64(0); at <= mask && found < length; {
			var bytes [4096]byte
			list := bytes[:min(uint64(len(bytes)), mask+1-at)]
			if err := m.Frame().ReadMemory(list, control+at); err != nil {
				yield(value.Child{Value: value.At(elem, control+at, m.Frame())})
				return
			}
			for k, b := range list {
				if b&0x80 != 0 {
					continue
				}
				found++
				c := value.Child{Value: value.At(elem, control-(at+uint64(k)+1)*elem.Size(), m.Frame())}
				if isMap {
					c.Key, c.Value = c.Value.FieldByName("__0"), c.Value.FieldByName("__1")
				} else {
					c.Value = c.Value.FieldByName("__0")
				}
				if found > length || !yield(c) {
					return
				}
			}
			at += uint64(len(list))
			if !yield(value.Child{Nothing: true}) {
				return
			}
		}
	}}, true
}

// rustCounted presents an Rc or an Arc with how many share it.
func rustCounted(r instance) (value.Presentation, bool) {
	inner := within(r.Value, "pointer")
	if inner.Type() == nil {
		return value.Presentation{}, false
	}
	if isStructure(inner.Type()) {
		return rustCountedWide(r, inner)
	}
	box := inner.Deref()
	strong, weak := bare(box.FieldByName("strong")), bare(box.FieldByName("weak"))
	held := box.FieldByName("data")
	if held.Err() != nil {
		held = box.FieldByName("value")
	}
	n, err := strong.Uint()
	w, weakErr := weak.Uint()
	if err != nil || weakErr != nil || isMissing(held) {
		return value.Presentation{}, false
	}
	return counted(r, n, w-1, held, strong), true
}

// rustCountedWide presents an Rc or an Arc of a str or a slice, of which the address stands
// beside the length.
func rustCountedWide(r instance, wide value.Value) (value.Presentation, bool) {
	at, ok := number(wide, "data_ptr")
	length, lengthOK := number(wide, "length")
	elem := argument(r.Type(), 0) // that of the element
	m := r.Type().Machine()
	size := uint64(m.AddressSize)
	count := value.IntOf(m, "usize", m.AddressSize, false)
	strong := value.At(count, at, r.Frame())
	n, err := strong.Uint()
	w, weakErr := value.At(count, at+size, r.Frame()).Uint()
	_, of, _ := strings.Cut(r.Type().Strip().Name(), "<")
	if isText(of) {
		elem = value.CharOf(m)
	} else if !strings.HasPrefix(of, "[") {
		ok = false // a trait's object
	}
	if !ok || !lengthOK || elem == nil || err != nil || weakErr != nil {
		return value.Presentation{}, false
	}
	held := value.At(value.ArrayOf(elem, length), behind(at, 2*size, elem), r.Frame())
	return counted(r, n, w-1, held, strong), true
}

func counted(r instance, strong, weak uint64, held, like value.Value) value.Presentation {
	t := like.Type()
	number := func(n uint64) value.Value {
		b := make([]byte, t.Size())
		switch len(b) {
		case 4:
			t.Machine().Order.PutUint32(b, uint32(n))
		case 8:
			t.Machine().Order.PutUint64(b, n)
		}
		return value.Constant(t, b, nil)
	}
	return value.Presentation{
		Text: fmt.Sprintf("%s(strong=%d, weak=%d)", r.template, strong, weak),
		Children: func(yield func(value.Child) bool) {
			_ = yield(value.Child{Name: "value", Value: held}) && yield(value.Child{Name: "strong", Value: number(strong)}) && yield(value.Child{Name: "weak", Value: number(weak)})
		},
	}
}

func rustCell(c instance) (value.Presentation, bool) {
	held := field(c.Value, "value.value")
	if held.Err() != nil {
		return value.Presentation{}, false
	}
	return value.Presentation{Text: "Cell", Children: one("value", held)}, true
}

// rustRefCell presents a RefCell, and whether what it holds is lent.
func rustRefCell(c instance) (value.Presentation, bool) {
	return borrowed("RefCell", "value", field(c.Value, "value.value"), bare(c.FieldByName("borrow")))
}

// rustBorrowed presents what a RefCell has lent.
func rustBorrowed(r instance) (value.Presentation, bool) {
	pointer := bare(r.FieldByName("value"))
	borrow := bare(r.FieldByName("borrow")).Deref() // of the cell
	return borrowed("Ref", "*value", pointer.Deref(), bare(borrow))
}

func borrowed(name, member string, held, borrow value.Value) (value.Presentation, bool) {
	bits, err := borrow.Uint()
	if held.Type() == nil || held.Err() != nil || err != nil {
		return value.Presentation{}, false
	}
	n := int64(bits)
	if borrow.Type().Size() == 4 {
		n = int64(int32(n))
	}
	state := fmt.Sprintf("borrow=%d", n)
	if n < 0 {
		state = fmt.Sprintf("borrow_mut=%d", -n)
	}
	return value.Presentation{Text: name + "(" + state + ")", Children: func(yield func(value.Child) bool) {
		_ = yield(value.Child{Name: member, Value: held}) && yield(value.Child{Name: "borrow", Value: borrow})
	}}, true
}

func rustNonZero(n instance) (value.Presentation, bool) {
	held := bare(n.Value)
	if held.Err() != nil || isStructure(held.Type()) {
		return value.Presentation{}, false
	}
	return value.Presentation{Value: held}, true
}
