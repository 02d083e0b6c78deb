// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
	"github.com/clewdev/clew/value/internal/spelling"
)

// value writes a value. top is true if it is not a part of another value.
func (w *printing) value(v value.Value, depth int, top bool) {
	if len(w.text) >= maxText {
		return
	}
	if p, ok := w.presented(v); ok {
		w.present(p, depth, false)
		return
	}
	if v.LocationErr() == nil && v.Type() != nil && v.Type().Strip().Incomplete() {
		w.add("<incomplete type>")
		return
	}
	v, err := v.Frozen()
	switch {
	case errors.Is(err, value.ErrNotAllocated), errors.Is(err, value.ErrNotAssociated):
		w.add("<" + err.Error() + ">")
		return
	case err != nil:
		w.unreadable(err)
		return
	}
	if t := v.Type().GoType(); t != nil && w.Format == 0 {
		w.golang(v, t, depth)
		return
	}
	t := v.Type().Strip()
	if t.Language() == value.Fortran && w.fortran(v, t, depth) || t.Language() == value.Ada && w.ada(v, t, depth) {
		return
	}
	switch t.Kind() {
	case value.Struct, value.Class, value.Union:
		if t.Language() == value.Rust && t.Kind() != value.Class {
			w.rust(v, t, depth)
			return
		}
		w.structure(v, t, depth)
	case value.Array:
		w.array(v, t, depth)
	case value.Set:
		w.set(v, t)
	case value.Reference, value.RvalueReference:
		w.reference(v, t, depth, top)
	case value.Func:
		address, _ := v.Address()
		w.address(address, true)
	case value.Void:
		w.add("void")
	case value.Complex:
		if !top && w.Format != 0 {
			w.complexParts(v, t)
			return
		}
		w.scalar(v, t)
	case value.MemberPointer:
		format := w.Format
		if !top && t.Elem().Strip().Kind() == value.Func {
			w.Format = 0 // as in gdb, a pointer to a method has no other format in a structure
		}
		w.scalar(v, t)
		w.Format = format
	default:
		w.scalar(v, t)
	}
}

// complexParts writes the two parts of a complex number in a format. gdb does so for numbers in
// other values; it writes a single one as one number.
func (w *printing) complexParts(v value.Value, t *value.Type) {
	open, between, end := "", " + ", "i"
	if t.Language() == value.Fortran {
		open, between, end = "(", ",", ")"
	}
	re, im := v.ComplexParts()
	w.add(open)
	w.scalar(re, re.Type())
	w.add(between)
	w.scalar(im, im.Type())
	w.add(end)
}

func (w *printing) scalar(v value.Value, t *value.Type) {
	if v.Synthetic() {
		w.add("<synthetic pointer>")
		return
	}
	b, err := v.BytesIn(w.buffer[:])
	if err != nil {
		w.unreadable(err)
		return
	}
	w.number(v, t, b)
}

// number writes the value b of a type without qualifiers.
func (w *printing) number(v value.Value, t *value.Type, b []byte) {
	if w.Format != 0 && w.Format != 's' && (len(w.text) == 0 || t.Language() != value.Rust || t.Name() != "()") {
		// As in gdb, () within another value is not formatted.
		w.formatted(t, b)
		return
	}
	n := number.Uint(t.Machine().Order, number.Low(t.Machine(), b, 8))
	if t.Language() == value.Ada && w.adaScalar(v, t, b, n) {
		return
	}
	switch t.Kind() {
	case value.Bool:
		no, yes := "false", "true"
		if t.Language() == value.Fortran {
			no, yes = ".FALSE.", ".TRUE."
		}
		switch n {
		case 0:
			w.add(no)
		case 1:
			w.add(yes)
		default:
			w.add(strconv.FormatUint(n, 10))
		}
	case value.Char, value.Int:
		if name := t.ConstantName(b); name != "" {
			w.add(name + " (")
			w.decimal(t, b)
			w.add(")")
			return
		}
		if t.Language() == value.Rust && w.rustScalar(t, b, n) {
			return
		}
		w.decimal(t, b)
		if t.Language() == value.Pascal && t.Kind() == value.Char && len(b) == 1 {
			w.add(" ")
			w.literal(value.Pascal, n)
			return
		}
		if prefix, ok := textual(v.Type()); ok {
			w.add(" " + prefix + "'")
			w.appendChar(n, len(b), '\'')
			w.add("'")
		}
	case value.Float:
		w.add(t.FloatText(b))
	case value.Decimal:
		w.add(number.Decimal(t.Machine(), b))
	case value.Complex:
		half := len(b) / 2
		if part := t.Elem(); part.Kind() != value.Void { // integers
			w.decimal(part, b[:half])
			w.add(" + ")
			w.decimal(part, b[half:])
			w.add("i")
			return
		}
		re, im := t.FloatText(b[:half]), t.FloatText(b[half:])
		if t.Language() == value.Fortran {
			w.add("(" + re + "," + im + ")")
			return
		}
		w.add(re + " + " + im + "i")
	case value.Enum:
		w.enumeration(t, b)
	case value.Fixed:
		w.add(t.FixedText(b))
	case value.Pointer:
		w.pointer(v, t, n)
	case value.MemberPointer:
		w.memberPointer(t, b)
	default:
		w.add("<unknown type>")
	}
}

// decimal writes the integer whose bytes are b.
func (w *printing) decimal(t *value.Type, b []byte) {
	switch n := number.Uint(t.Machine().Order, b); {
	case len(b) == 0 || len(b) > 8:
		w.add(number.Integer(t.Machine(), b, t.Signed()).String())
	case t.Signed():
		w.text = strconv.AppendInt(w.text, int64(number.SignExtend(n, 8*uint64(len(b)))), 10)
	default:
		w.text = strconv.AppendUint(w.text, n, 10)
	}
}

// pointer writes an address, its symbol, and the string at the address.
func (w *printing) pointer(v value.Value, t *value.Type, address uint64) {
	elem := t.Elem()
	if unqualified(elem).Kind() == value.Func {
		w.address(address, true)
		return
	}
	if t.Language() == value.Rust && isByteString(elem.Strip()) {
		w.rustBytes(v, elem.Strip(), address)
		return
	}
	w.address(address, true)
	if prefix, ok := textual(elem); ok && address != 0 {
		w.add(" ")
		w.appendPointed(v.Frame(), address, elem.Size(), prefix)
	}
}

// address writes an address and the symbol that covers it.
func (w *printing) address(address uint64, named bool) {
	w.add("0x")
	w.text = strconv.AppendUint(w.text, address, 16)
	if !named || w.Symbols == nil || address == 0 {
		return
	}
	name, offset, ok := w.Symbols.Symbol(address)
	switch {
	case !ok:
	case offset == 0:
		w.add(" <" + name + ">")
	default:
		w.add(" <" + name + "+" + strconv.FormatUint(offset, 10) + ">")
	}
}

func (w *printing) reference(v value.Value, t *value.Type, depth int, top bool) {
	if v.Synthetic() {
		target := v.Deref()
		if !top || target.OptimizedOut() {
			w.add("<synthetic pointer>")
			return
		}
		w.add("<synthetic pointer>: ")
		w.value(target, depth+1, false)
		return
	}
	b, err := v.Bytes()
	if err != nil {
		w.fail(err)
		return
	}
	w.add("@")
	w.address(number.Uint(t.Machine().Order, b), false)
	// The target of a reference in a structure is not shown.
	if top {
		w.add(": ")
		w.value(v.Deref(), depth, false)
	}
}

// EnumeratorPrefix returns the text before the names of the enumerators of an enumeration: in C++ the
// scope that has them, in Rust the enumeration.
func EnumeratorPrefix(t *value.Type) string {
	name := t.Name()
	switch {
	case t.Language() == value.Rust, t.Language() == value.CPlusPlus && t.Scoped():
		return name + "::"
	case t.Language() == value.CPlusPlus && name == "":
		if scope := t.Scope(); scope != "" {
			return scope + "::"
		}
	case t.Language() == value.CPlusPlus:
		return name[:len(name)-len(spelling.Last(name))]
	}
	return ""
}

// enumeration writes the name of a value, or the names of its bits.
func (w *printing) enumeration(t *value.Type, b []byte) {
	list := t.Enumerators()
	n := number.Uint(t.Machine().Order, number.Low(t.Machine(), b, 8))
	if t.Signed() {
		n = number.SignExtend(n, 8*uint64(len(b)))
	}
	prefix := EnumeratorPrefix(t)
	for k := range list {
		if uint64(list[k].Value) == n {
			w.add(prefix + list[k].Name)
			return
		}
	}
	if !t.Flags() {
		w.add(number.Integer(t.Machine(), b, t.Signed()).String())
		return
	}
	separator := "("
	left := n
	for k := range list {
		bit := uint64(list[k].Value)
		if left&bit == 0 {
			continue
		}
		w.add(separator + prefix + list[k].Name)
		separator = " | "
		left &^= bit
	}
	switch {
	case left != 0:
		w.add(separator + "unknown: 0x" + strconv.FormatUint(left, 16) + ")")
	case n == 0:
		w.add("0")
	default:
		w.add(")")
	}
}

func (w *printing) structure(v value.Value, t *value.Type, depth int) {
	if depth >= w.depth {
		w.add("{...}")
		return
	}
	if slices.Contains(w.around, t) {
		w.fail(fmt.Errorf("%w: type at %v holds itself", value.ErrDebugInfo, t.Offset()))
		return
	}
	w.around = append(w.around, t)
	defer func() { w.around = w.around[:len(w.around)-1] }()
	fields := t.Fields()
	w.add("{")
	members := 0
	for k := range fields {
		f := &fields[k]
		if !f.Base {
			members++
			continue
		}
		base := v.Field(k)
		if f.Virtual {
			if address, ok := base.Address(); ok {
				if w.seen[address] {
					continue
				}
				if w.seen == nil {
					w.seen = make(map[uint64]bool)
				}
				w.seen[address] = true
			}
		}
		within := f.Type.Strip() // clang names some by a typedef
		w.add("<" + within.Name() + "> = ")
		if f.Virtual && base.LocationErr() != nil {
			w.add("<invalid address>, ")
			continue
		}
		if within.Incomplete() {
			w.add("{<No data fields>}")
		} else {
			w.value(base, depth+1, false)
		}
		w.add(", ")
	}
	if members == 0 {
		w.add("<No data fields>")
	}
	first := true
	for k := range fields {
		f := &fields[k]
		if f.Base {
			continue
		}
		if len(w.text) >= maxText {
			break
		}
		if !first {
			w.add(", ")
		}
		first = false
		if f.Static != nil {
			w.add("static ")
		}
		if f.Name != "" {
			w.add(f.Name + " = ")
		}
		member := v.Field(k)
		if f.Static != nil && (member.LocationErr() != nil || depth > 0 && !isScalar(f.Type.Strip())) {
			// A static member can be of the structure it is in.
			w.add("<optimized out>")
			continue
		}
		if strings.HasPrefix(f.Name, "_vptr") && !member.OptimizedOut() {
			// A pointer to a virtual table is one in every format.
			if n, err := member.Uint(); err == nil {
				w.address(n, w.Format == 0 || v.Type().Kind() != value.Const) // as in gdb
				continue
			}
		}
		around := w.around
		if f.Static != nil {
			w.around = nil // a static member is in another place
		}
		w.value(member, depth+1, false)
		w.around = around
	}
	w.add("}")
}

// fields writes the fields of a structure. A mark follows each name; an empty one omits the names.
func (w *printing) fields(v value.Value, fields []value.Field, mark string, depth int) {
	for k := range fields {
		if len(w.text) >= maxText {
			break
		}
		if k > 0 {
			w.add(", ")
		}
		if mark != "" {
			w.add(fields[k].Name + mark)
		}
		w.value(v.Member(&fields[k]), depth+1, false)
	}
}
