// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/clewdev/clew/value"
)

// errNoBounds is gdb's message for an array of unknown length: dimension(*).
var errNoBounds = errors.New("failed to get range bounds")

// fortran writes a value that only Fortran has, or that Fortran writes differently from C. It
// reports whether it did.
func (w *printing) fortran(v value.Value, t *value.Type, depth int) bool {
	switch t.Kind() {
	case value.Array:
		if elem := t.Elem().Strip(); elem.Kind() == value.Char {
			t = value.TextOf(elem, t.Size())
			w.fortranText(v.As(t), t)
			break
		}
		(&fortranArray{printing: w, depth: depth}).write(v, t)
	case value.Text:
		w.fortranText(v, t)
	case value.Struct, value.Union:
		w.fortranStructure(v, t, depth)
	default:
		return false
	}
	return true
}

// fortranText writes a string. The kind precedes characters of more than one byte.
func (w *printing) fortranText(v value.Value, t *value.Type) {
	prefix := ""
	width := t.Elem().Size()
	if width != 1 {
		prefix = strconv.FormatUint(width, 10) + "_"
	}
	if width != 1 && width != 2 && width != 4 {
		w.fail(value.ErrType)
		return
	}
	whole, cut := v, false
	if size := t.Size(); size > value.MaxSize {
		whole = v.As(value.TextOf(t.Elem(), value.MaxSize))
		cut = true
	}
	b, err := whole.Bytes()
	if err != nil {
		w.unreadable(err)
		return
	}
	w.appendQuoted(b[:uint64(len(b))/width*width], int(width), prefix, '\'', cut)
}

func (w *printing) fortranStructure(v value.Value, t *value.Type, depth int) {
	if depth >= w.depth {
		w.add("(...)")
		return
	}
	w.add("( ")
	w.fields(v, t.Fields(), " = ", depth)
	w.add(" )")
}

// fortranArray writes an array in the order of memory: the first dimension is innermost.
type fortranArray struct {
	*printing
	depth int
	shown uint64 // elements, with those that are repeated
}

func (f *fortranArray) write(v value.Value, t *value.Type) {
	n, known := t.Len()
	if !known {
		if f.problem == nil {
			f.problem = errNoBounds
		}
		f.add("<error reading variable: " + errNoBounds.Error() + ">")
		return
	}
	if short, ok := v.Beginning(); ok && n != 0 {
		f.dimension(short, short.Type(), "...")
	} else {
		f.dimension(v, t, "")
	}
}

// dimension writes an array in parentheses. Commas separate its elements, and spaces separate
// elements that are arrays. Rest follows the last one.
func (f *fortranArray) dimension(v value.Value, t *value.Type, rest string) {
	separator, size := ", ", uint64(1)
	write := func(v value.Value) {
		f.shown++
		f.value(v, f.depth+1, false)
	}
	inner := t.Elem().Strip()
	if inner.Kind() == value.Array {
		separator, size = " ", max(1, count(inner))
		write = func(v value.Value) { f.dimension(v, inner, "") }
	}
	f.add("(")
	defer f.add(")")
	limit := uint64(f.printing.elements)
	for i := uint64(0); i < count(t); {
		if i > 0 {
			f.add(separator)
		}
		if f.shown >= limit || len(f.text) >= maxText {
			f.add("...")
			return
		}
		first := elementAt(v, t, i)
		write(first)
		equal := uint64(0) // to the first, after it
		for i++; i < count(t) && size <= limit && f.shown+(equal+1)*size <= limit && alike(first, elementAt(v, t, i)); i++ {
			equal++
		}
		if equal >= uint64(f.repeats) {
			f.add(separator + "<repeats " + strconv.FormatUint(equal+1, 10) + " times>")
			f.shown += equal * size
			continue
		}
		for range equal {
			f.add(separator)
			write(first)
		}
	}
	f.add(rest)
}

// alike reports whether two values of a type can be read and have the same bytes.
func alike(v, other value.Value) bool {
	if v.Type().Size() > value.MaxSize {
		return false
	}
	a, err := v.Bytes()
	if err != nil {
		return false
	}
	b, err := other.Bytes()
	return err == nil && bytes.Equal(a, b)
}
