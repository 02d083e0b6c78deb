// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"fmt"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/spelling"
)

// rust writes a structure or an enum as gdb does in Rust.
func (w *printing) rust(v value.Value, t *value.Type, depth int) {
	fields := t.Fields()
	name := spelling.Last(t.Name())
	switch {
	case t.HasVariants():
		w.rustEnum(v, t, depth)
		return
	case len(fields) == 2 && fields[0].Name == "data_ptr" && fields[1].Name == "length":
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
	w.add(t.Name())
	if len(fields) > 0 {
		w.add(" ")
		w.rustFields(v, fields, isTuple(fields), depth)
	}
}

// isTuple reports whether the names of fields are numbers.
func isTuple(fields []value.Field) bool { return len(fields) > 0 && fields[0].Name == "__0" }

func (w *printing) rustFields(v value.Value, fields []value.Field, tuple bool, depth int) {
	open, mark, end := "{", ": ", "}"
	if tuple {
		open, mark, end = "(", "", ")"
	}
	w.add(open)
	w.fields(v, fields, mark, depth)
	w.add(end)
}

func (w *printing) rustEnum(v value.Value, t *value.Type, depth int) {
	forms, err := v.VariantFields()
	switch {
	case err != nil:
		w.fail(err)
		return
	case len(forms) == 0:
		w.add(t.Name())
		return
	}
	field := &forms[0]
	w.add(t.Name() + "::" + field.Name)
	inner := v.Member(field)
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

// rustSlice writes a slice or a string with its elements.
func (w *printing) rustSlice(v value.Value, t *value.Type, depth int) {
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
	name := spelling.Last(t.Name())
	switch {
	case name == "&str" || name == "&mut str":
		if length == 0 {
			w.add(`""`)
			return
		}
		w.rustText(elem, data, length, v.Frame())
	case length == 0:
		w.add(t.Name() + " []")
	default:
		w.add(t.Name() + " ")
		a := value.ArrayIn(value.Rust, elem, min(length, uint64(value.MaxSize)/max(1, elem.Size())))
		w.array(value.At(a, data, v.Frame()), a, depth)
	}
}

// rustText writes the text of an array of bytes.
func (w *printing) rustText(elem *value.Type, address, length uint64, f value.Frame) {
	shown := min(length, uint64(w.elements))
	contents, err := value.At(value.ArrayOf(elem, shown), address, f).Bytes()
	if err != nil {
		w.fail(err)
		return
	}
	w.appendQuoted(contents, 1, "", '"', shown < length)
}

// rustScalar writes the scalars that only Rust has, () and characters, and reports whether it
// did.
func (w *printing) rustScalar(t *value.Type, b []byte, n uint64) bool {
	switch {
	case t.Name() == "()" && len(b) == 0:
		w.add("()")
	case t.Kind() == value.Char && len(b) == 4:
		w.decimal(t, b)
		w.add(" '" + rustChar(n) + "'")
	default:
		return false
	}
	return true
}

// rustChar returns a character as gdb's rust-lang.c writes it.
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
func isByteString(t *value.Type) bool {
	if t.Kind() != value.Array {
		return false
	}
	_, known := t.Len()
	return known && t.Elem().Strip().Name() == "u8"
}

// rustBytes writes a reference to an array of bytes, and the bytes.
func (w *printing) rustBytes(v value.Value, t *value.Type, address uint64) {
	w.address(address, false)
	w.add(" b")
	length, _ := t.Len()
	w.rustText(t.Elem(), address, length, v.Frame())
}
