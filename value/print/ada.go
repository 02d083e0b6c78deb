// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
	"github.com/clewdev/clew/value/internal/spelling"
)

// ada writes a value that only Ada has, or that Ada writes differently from C. It reports
// whether it did.
func (w *printing) ada(v value.Value, t *value.Type, depth int) bool {
	switch t.Kind() {
	case value.Array:
		w.adaArray(v, t, depth)
	case value.Struct, value.Union:
		if !t.IsArrayDescriptor() {
			w.adaRecord(v, t, depth)
			break
		}
		if isNamed(v.Type()) {
			data := v.Field(0)
			w.scalar(data, data.Type().Strip())
			break
		}
		a := v.DescribedArray()
		if a.LocationErr() != nil {
			w.fail(a.LocationErr())
			break
		}
		w.value(a, depth, false)
	case value.Reference:
		if depth >= w.depth { // it can be a reference to itself
			w.add("(...)")
			break
		}
		w.value(v.Deref().OfTag(), depth+1, false)
	default:
		return false
	}
	return true
}

// isNamed reports whether a type has its own name. A descriptor of a named type is a value of an
// access type; one of an unnamed type is how an array is passed.
func isNamed(t *value.Type) bool {
	return without(t, value.Const, value.Volatile).Kind() == value.Typedef
}

// adaFields writes the members of a record that its source declares: first those of its
// parent, last those of its variant. The text of the members begins at start.
func (w *printing) adaFields(v value.Value, t *value.Type, depth, start int) {
	fields := t.Fields()
	for k := range fields {
		f := &fields[k]
		if len(w.text) >= maxText || f.Name == "_parent" && k == 0 && depth > maxTypes {
			return
		}
		if f.Name == "_parent" && k == 0 { // a later one could lead back to t
			w.adaFields(v.Member(f), f.Type.Strip(), depth+1, start)
		} else if !strings.HasPrefix(f.Name, "_") {
			w.adaField(v, f, depth, start)
		}
	}
	list, err := v.As(t).VariantFields()
	for k := range list {
		w.adaField(v, &list[k], depth, start)
	}
	if err != nil {
		w.fail(err)
	}
}

func (w *printing) adaField(v value.Value, f *value.Field, depth, start int) {
	if len(w.text) > start {
		w.add(", ")
	}
	w.add(f.Name, " => ")
	w.value(v.Member(f), depth+1, false)
}

func (w *printing) adaRecord(v value.Value, t *value.Type, depth int) {
	if depth >= w.depth {
		w.add("(...)")
		return
	}
	w.add("(")
	w.adaFields(v, t, depth, len(w.text))
	w.add(")")
}

func (w *printing) adaArray(v value.Value, t *value.Type, depth int) {
	n, known := t.Len()
	elem := t.Elem().Strip()
	switch {
	case !known:
		w.fail(errors.New("the bounds of the array are not known"))
		return
	case elem.Kind() == value.Char && (w.Format == 0 || w.Format == 's'):
		w.adaText(v, elem)
		return
	case depth >= w.depth:
		w.add("(...)")
		return
	case n == 0:
		w.add("()")
		return
	}
	end := ")"
	if short, ok := v.Beginning(); ok {
		v, t, end = short, short.Type(), "...)"
	}
	w.add("(")
	if !beginsFirst(t) {
		w.adaIndex(t, t.Lower())
		w.add(" => ")
	}
	w.elementsOf(v, t, depth)
	w.add(end)
}

// beginsFirst reports whether the first index of an array is that of an aggregate without
// indices: 1, or the first value of its index type.
func beginsFirst(t *value.Type) bool {
	if t.Index() == nil {
		return t.Lower() == 1
	}
	switch index := t.Index().Strip(); index.Kind() {
	case value.Bool, value.Char:
		return t.Lower() == 0
	case value.Enum:
		list := index.Enumerators()
		return len(list) > 0 && list[0].Value == t.Lower()
	}
	return t.Lower() == 1
}

// adaIndex writes an index of an array.
func (w *printing) adaIndex(t *value.Type, n int64) {
	if t.Index() != nil {
		switch index := t.Index().Strip(); index.Kind() {
		case value.Bool:
			w.add(strconv.FormatBool(n != 0))
			return
		case value.Char:
			w.add("'")
			w.adaChar(uint64(n), int(index.Size()), '\'')
			w.add("'")
			return
		case value.Enum:
			for _, e := range index.Enumerators() {
				if e.Value == n {
					w.add(spelling.AdaLiteral(e.Name))
					return
				}
			}
		}
	}
	w.add(strconv.FormatInt(n, 10))
}

// adaText writes a string. It writes long runs of one character as 'c' <repeats N times>.
func (w *printing) adaText(v value.Value, elem *value.Type) {
	size := elem.Size()
	cut := false
	if short, ok := v.Beginning(); ok {
		v, cut = short, true
	}
	b, err := v.Bytes()
	if err != nil || size == 0 || size > 4 {
		w.fail(cmp.Or(err, value.ErrType))
		return
	}
	n := uint64(len(b)) / size
	if n == 0 {
		w.add(`""`)
		return
	}
	at := func(k uint64) uint64 { return number.Uint(w.machine.Order, b[k*size:][:size]) }
	quoted, shown := false, 0
	for k := uint64(0); k < n; {
		if shown >= w.elements {
			cut = true
			break
		}
		run := uint64(1)
		for k+run < n && at(k+run) == at(k) {
			run++
		}
		if run > uint64(w.repeats) {
			if quoted {
				w.add(`"`)
			}
			if k > 0 {
				w.add(", ")
			}
			w.add("'")
			w.adaChar(at(k), int(size), '\'')
			w.add("' <repeats " + strconv.FormatUint(run, 10) + " times>")
			quoted = false
			k, shown = k+run, shown+w.repeats
			continue
		}
		if !quoted {
			if k > 0 {
				w.add(", ")
			}
			w.add(`"`)
			quoted = true
		}
		w.adaChar(at(k), int(size), '"')
		k++
		shown++
	}
	if quoted {
		w.add(`"`)
	}
	if cut {
		w.add("...")
	}
}

// adaChar writes a character within quotes. As in Ada's source, it writes the code of a
// character that is invisible or not in ASCII.
func (w *printing) adaChar(n uint64, size int, quote byte) {
	switch {
	case n == '"' && quote == '"':
		w.add(`""`)
	case n >= ' ' && n < 0x7f:
		w.add(string(rune(n)))
	default:
		w.add(fmt.Sprintf(`["%0*x"]`, min(6, 2*size), n))
	}
}

// adaScalar writes a number, a character or an enumeration literal, and reports whether
// it did.
func (w *printing) adaScalar(v value.Value, t *value.Type, b []byte, n uint64) bool {
	switch t.Kind() {
	case value.Int:
		if t.Name() != "system__address" || isNamed(v.Type()) { // a derived type has another name
			return false
		}
		w.add("(system.address) ")
		w.address(n, false)
	case value.Char:
		w.decimal(t, b)
		w.add(" '")
		w.adaChar(n, len(b), '\'')
		w.add("'")
	case value.Float:
		w.add(adaFloat(t.FloatText(b)))
	case value.Enum:
		for _, e := range t.Enumerators() {
			if uint64(e.Value) != n {
				continue
			}
			literal := spelling.AdaLiteral(e.Name)
			if strings.HasPrefix(literal, "'") {
				w.decimal(t, b)
				w.add(" ")
			}
			w.add(literal)
			return true
		}
		w.decimal(t, b)
	case value.Pointer:
		w.address(n, unqualified(t.Elem()).Kind() == value.Func)
	default:
		return false
	}
	return true
}

// adaFloat adds the decimal point that Ada requires: 1.0, 1.0e+100.
func adaFloat(text string) string {
	digits, exponent, isPower := strings.Cut(text, "e")
	if strings.ContainsAny(text, ".ni") {
		return text
	}
	if isPower {
		return digits + ".0e" + exponent
	}
	return digits + ".0"
}
