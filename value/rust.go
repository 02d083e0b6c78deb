// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"strings"
)

// Variant returns the form that a value of an enum of Rust has, and its name; false for
// other values, and where it cannot be told.
func (v Value) Variant() (name string, form Value, ok bool) {
	v = v.behind()
	if v.err != nil || v.typ == nil {
		return "", v, false
	}
	t := v.typ.Strip()
	if t.load(); t.variants == nil {
		return "", v, false
	}
	found, err := t.variants.form(v)
	if err != nil || found == nil || len(found.fields) == 0 {
		return "", v, false
	}
	return found.fields[0].Name, v.member(&found.fields[0]), true
}

// rust writes a structure or an enum as gdb does in Rust.
func (w *printing) rust(v Value, t *Type, depth int) {
	fields := t.Fields()
	name := lastName(t.name)
	switch {
	case t.variants != nil:
		w.rustEnum(v, t, depth)
		return
	case len(fields) == 2 && fields[0].Name == "data_ptr" && fields[1].Name == "length" && strings.HasPrefix(name, "&"):
		w.rustSlice(v, t, depth)
		return
	}
	if depth >= w.depth {
		w.add("{...}")
		return
	}
	if strings.HasPrefix(name, "(") {
		w.rustFields(v, fields, true, depth)
		return
	}
	w.add(t.name)
	if len(fields) > 0 {
		w.add(" ")
		w.rustFields(v, fields, isTuple(fields), depth)
	}
}

// isTuple reports whether fields have numbers for names.
func isTuple(fields []Field) bool { return len(fields) > 0 && fields[0].Name == "__0" }

func (w *printing) rustFields(v Value, fields []Field, tuple bool, depth int) {
	open, end := "{", "}"
	if tuple {
		open, end = "(", ")"
	}
	w.add(open)
	for k := range fields {
		if len(w.text) >= maxText {
			break
		}
		if k > 0 {
			w.add(", ")
		}
		if !tuple {
			w.add(fields[k].Name + ": ")
		}
		w.value(v.Field(k), depth+1, false)
	}
	w.add(end)
}

func (w *printing) rustEnum(v Value, t *Type, depth int) {
	form, err := t.variants.form(v)
	switch {
	case err != nil:
		w.fail(err)
		return
	case form == nil || len(form.fields) == 0:
		w.add(t.name)
		return
	}
	field := &form.fields[0]
	w.add(t.name + "::" + field.Name)
	inner := v.member(field)
	fields := field.Type.Strip().Fields()
	if len(fields) == 0 {
		return
	}
	if depth >= w.depth {
		w.add("{...}")
		return
	}
	w.rustFields(inner, fields, isTuple(fields), depth)
}

// rustSlice writes a slice, or a string, with what it leads to.
func (w *printing) rustSlice(v Value, t *Type, depth int) {
	length, err := v.Field(1).Uint()
	var data uint64
	if err == nil {
		data, err = v.Field(0).Uint()
	}
	if err != nil {
		w.fail(err)
		return
	}
	elem := t.Fields()[0].Type.Strip().Elem()
	if lastName(t.name) == "&str" || lastName(t.name) == "&mut str" {
		if length == 0 {
			w.add(`""`)
			return
		}
		shown := min(length, uint64(w.elements))
		contents, err := At(ArrayOf(elem, shown), data, v.frame).Bytes()
		if err != nil {
			w.fail(err)
			return
		}
		w.appendString(contents, 1, "", shown < length)
		return
	}
	w.add(t.name + " ")
	if length == 0 {
		w.add("[]")
		return
	}
	if limit := uint64(MaxSize) / max(1, elem.Size()); length > limit {
		length = limit
	}
	a := ArrayOf(elem, length)
	a.language = Rust
	w.array(At(a, data, v.frame), a, depth)
}

// rustScalar writes what gdb writes of Rust's own scalars: () and characters.
func (w *printing) rustScalar(t *Type, b []byte, n uint64) bool {
	switch {
	case t.name == "()" && len(b) == 0:
		w.add("()")
	case t.kind == Char && len(b) == 4:
		w.decimal(t, b)
		w.add(" '" + rustChar(n) + "'")
	default:
		return false
	}
	return true
}

// rustChar returns a character as gdb's rust-lang.c emits it.
func rustChar(n uint64) string {
	switch {
	case n == '\\' || n == '\'':
		return `\` + string(rune(n))
	case n == '\n':
		return `\n`
	case n == '\r':
		return `\r`
	case n == '\t':
		return `\t`
	case n == 0:
		return `\0`
	case n >= ' ' && n < 0x7f:
		return string(rune(n))
	case n <= 0xff:
		return fmt.Sprintf(`\x%02x`, n)
	}
	return fmt.Sprintf(`\u{%06x}`, n)
}

// isByteString reports whether a type is an array of u8 with a length.
func (t *Type) isByteString() bool {
	if t.kind != Array {
		return false
	}
	_, known := t.Len()
	return known && t.Elem().Strip().name == "u8"
}

// rustBytes writes a reference to an array of bytes, with them.
func (w *printing) rustBytes(v Value, t *Type, address uint64) {
	w.address(address, false)
	length, _ := t.Len()
	shown := min(length, uint64(w.elements))
	contents, err := At(ArrayOf(t.Elem(), shown), address, v.frame).Bytes()
	w.add(" b")
	if err != nil {
		w.fail(err)
		return
	}
	w.appendString(contents, 1, "", shown < length)
}
