// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// errNoBounds is gdb's sentence for an array whose length nothing says: dimension(*).
var errNoBounds = errors.New("failed to get range bounds")

// fortran writes a value of Fortran that other languages do not have, or write otherwise,
// and reports whether it did.
func (w *printing) fortran(v Value, t *Type, depth int) bool {
	switch t.kind {
	case Array:
		if elem := t.Elem().Strip(); elem.kind == Char {
			t = &Type{machine: t.machine, language: t.language, kind: Text, elem: elem, size: t.Size(), sized: t.counted, ready: true}
			v.typ = t
			w.fortranText(v, t)
			break
		}
		(&fortranArray{printing: w, depth: depth}).write(v, t)
	case Text:
		w.fortranText(v, t)
	case Struct, Union:
		w.fortranStructure(v, t, depth)
	default:
		return false
	}
	return true
}

// fortranText writes a string. Characters of four bytes have their kind before them.
func (w *printing) fortranText(v Value, t *Type) {
	width := uint64(1)
	prefix := ""
	if t.elem != nil {
		if width = t.elem.Size(); width != 1 {
			prefix = strconv.FormatUint(width, 10) + "_"
		}
	}
	if width != 1 && width != 2 && width != 4 {
		w.fail(ErrType)
		return
	}
	whole, cut := v, false
	if size := t.Size(); size > MaxSize {
		whole.typ = &Type{machine: t.machine, language: t.language, kind: Text, elem: t.elem, size: MaxSize, sized: true, ready: true}
		cut = true
	}
	b, err := whole.Bytes()
	switch {
	case errors.Is(err, ErrOptimizedOut):
		w.add("<" + optimizedOut + ">")
	case err != nil:
		w.fail(err)
	default:
		w.appendQuoted(b[:uint64(len(b))/width*width], int(width), prefix, '\'', cut)
	}
}

func (w *printing) fortranStructure(v Value, t *Type, depth int) {
	if depth >= w.depth {
		w.add("(...)")
		return
	}
	w.add("( ")
	fields := t.Fields()
	for k := range fields {
		if len(w.text) >= maxText {
			break
		}
		if k > 0 {
			w.add(", ")
		}
		w.add(fields[k].Name + " = ")
		w.value(v.member(&fields[k]), depth+1, false)
	}
	w.add(" )")
}

// fortranArray writes an array: the first dimension innermost, as it lies in memory.
type fortranArray struct {
	*printing
	depth int
	shown uint64 // elements, with those that are repeated
}

func (f *fortranArray) write(v Value, t *Type) {
	n, known := t.Len()
	if !known {
		if f.problem == nil {
			f.problem = errNoBounds
		}
		f.add("<error reading variable: " + errNoBounds.Error() + ">")
		return
	}
	short := v.beginning()
	if short == nil || n == 0 {
		f.dimension(v, t, "")
	} else {
		f.dimension(v.part(short, 0), short, "...")
	}
}

// dimension writes an array in parentheses: its elements with commas between them, the
// arrays that it has for elements with spaces. Rest follows the last one.
func (f *fortranArray) dimension(v Value, t *Type, rest string) {
	separator, size := ", ", uint64(1)
	write := func(v Value) {
		f.shown++
		f.value(v, f.depth+1, false)
	}
	inner := t.Elem().Strip()
	if inner.kind == Array {
		separator, size = " ", max(1, inner.count)
		write = func(v Value) { f.dimension(v, inner, "") }
	}
	f.add("(")
	defer f.add(")")
	limit := uint64(f.printing.elements)
	for i := uint64(0); i < t.count; {
		if i > 0 {
			f.add(separator)
		}
		if f.shown >= limit || len(f.text) >= maxText {
			f.add("...")
			return
		}
		first := v.element(t, i)
		write(first)
		equal := uint64(0) // to the first, after it
		for i++; i < t.count && size <= limit && f.shown+(equal+1)*size <= limit && alike(first, v.element(t, i)); i++ {
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
func alike(v, other Value) bool {
	if v.typ.Size() > MaxSize {
		return false
	}
	a, err := v.Bytes()
	if err != nil {
		return false
	}
	b, err := other.Bytes()
	return err == nil && bytes.Equal(a, b)
}

// fortranName returns the name of a type as gdb's whatis has it in Fortran.
func (t *Type) fortranName() string {
	n := namer{left: 256}
	return n.fortran(t, 0)
}

func (n *namer) fortran(t *Type, depth int) string {
	if n.left--; n.left < 0 || depth > maxChain {
		return "..."
	}
	switch t.kind {
	case Pointer, Reference:
		return map[Kind]string{Pointer: "PTR", Reference: "REF"}[t.kind] + " TO -> ( " + n.fortran(t.Elem(), depth+1) + " )"
	case Const, Volatile, Restrict, Atomic:
		return n.fortran(t.Elem(), depth+1)
	case Text:
		return t.fortranTextName()
	case Struct, Union:
		return "Type " + t.name
	case Func:
		return n.fortran(t.Elem(), depth+1) + " () " + n.fortranParams(t, depth)
	case Array:
		return n.fortranArray(t, depth)
	}
	return t.tagged()
}

func (t *Type) fortranTextName() string {
	t.load()
	switch width := max(1, t.Elem().Size()); {
	case t.lazy && !t.sized:
		return "character (*)"
	case t.lazy:
		return fmt.Sprintf("character (%d)", t.size/width)
	case !t.sized || t.size == 0:
		return "character*(*)"
	default:
		return fmt.Sprintf("character*%d", t.size/width)
	}
}

// fortranArray puts the bounds of the first dimension first.
func (n *namer) fortranArray(t *Type, depth int) string {
	var bounds []string
	allocated := ""
	if t.Elem(); t.lazy || t.said(isAllocated) != nil {
		allocated = ", allocatable"
	}
	for ; t.kind == Array && len(bounds) < maxChain; t = t.Elem().named() {
		t.Elem()
		bound := "*"
		switch {
		case t.counted:
			if bound = strconv.FormatInt(t.lower+int64(t.count)-1, 10); t.lower != 1 {
				bound = strconv.FormatInt(t.lower, 10) + ":" + bound
			}
		case t.dynamic != nil:
			bound = ":"
		}
		bounds = append(bounds, bound)
	}
	slices.Reverse(bounds)
	return n.fortran(t, depth+1) + allocated + " (" + strings.Join(bounds, ",") + ")"
}

func (n *namer) fortranParams(t *Type, depth int) string {
	var list []string
	for _, p := range t.Params() {
		if n.left < 0 {
			break
		}
		list = append(list, n.fortran(p, depth+1))
	}
	return "(" + strings.Join(list, ", ") + ")"
}
