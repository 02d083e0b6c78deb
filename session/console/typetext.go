// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"fmt"
	"strings"

	"github.com/clewdev/clew/value"
)

// In damaged debugging information a type can contain itself, so the text of a type is
// bounded.
const (
	maxTypeDepth = 32      // nested types
	maxTypeText  = 1 << 20 // bytes
)

// typeText returns a type in full, as gdb's ptype shows it: a structure with its members, a
// typedef as its target.
func typeText(t *value.Type) string {
	var w typeWriter
	w.full(t, "", 0)
	return w.String()
}

type typeWriter struct{ strings.Builder }

// full writes a type. Its lines, except the first, begin with indent.
func (w *typeWriter) full(t *value.Type, indent string, depth int) {
	if depth == maxTypeDepth || w.Len() > maxTypeText {
		w.WriteString("...")
		return
	}
	// The type with a name or members is inside pointers, arrays and qualifiers.
	inner := t
	for range maxTypeDepth {
		switch inner.Kind() {
		case value.Const, value.Volatile, value.Restrict, value.Atomic, value.Pointer, value.Array, value.Func:
			inner = inner.Elem()
			continue
		}
		break
	}
	text := t.String()
	before, after, found := strings.Cut(text, inner.String())
	kind := inner.Kind()
	if !found || kind != value.Typedef && kind != value.Enum && kind != value.Struct && kind != value.Union && kind != value.Class {
		w.WriteString(text)
		return
	}
	w.WriteString(before)
	switch kind {
	case value.Typedef:
		w.full(inner.Elem(), indent, depth+1)
	case value.Enum:
		w.enumeration(inner)
	default:
		w.structure(inner, indent, depth)
	}
	w.WriteString(after)
}

func (w *typeWriter) structure(t *value.Type, indent string, depth int) {
	t = t.Strip()
	if t.Incomplete() {
		w.WriteString(t.String() + " {\n" + indent + "    <incomplete type>\n" + indent + "}")
		return
	}
	w.head(t)
	w.WriteString("{\n")
	indent += "    "
	for _, f := range t.Fields() {
		w.WriteString(indent)
		if w.Len() > maxTypeText {
			w.WriteString("...\n")
			break
		}
		if f.Name == "" {
			w.full(f.Type, indent, depth+1)
		} else {
			w.WriteString(declare(f.Type, f.Name))
		}
		if f.BitSize > 0 {
			fmt.Fprintf(w, " : %d", f.BitSize)
		}
		w.WriteString(";\n")
	}
	if len(t.Fields()) == 0 {
		w.WriteString(indent + "<no data fields>\n")
	}
	w.WriteString(indent[4:] + "}")
}

func (w *typeWriter) enumeration(t *value.Type) {
	t = t.Strip()
	w.head(t)
	w.WriteString("{")
	next := int64(0)
	for i, e := range t.Enumerators() {
		if i > 0 {
			w.WriteString(", ")
		}
		if w.Len() > maxTypeText {
			w.WriteString("...")
			break
		}
		w.WriteString(e.Name)
		if e.Value != next {
			fmt.Fprintf(w, " = %d", e.Value)
		}
		next = e.Value + 1
	}
	w.WriteString("}")
}

// head writes the keyword and the name of a structure, union, class or enumeration.
func (w *typeWriter) head(t *value.Type) {
	w.WriteString(map[value.Kind]string{value.Struct: "struct ", value.Union: "union ", value.Class: "class ", value.Enum: "enum "}[t.Kind()])
	if t.Name() != "" {
		w.WriteString(t.Name() + " ")
	}
}

// declare returns the declaration of a name with a type: "int (*compare)(int)".
func declare(t *value.Type, name string) string {
	suffix := ""
	for depth := 0; t.Kind() == value.Array; depth++ {
		if depth == maxTypeDepth {
			suffix += "..."
			break
		}
		if n, ok := t.Len(); ok {
			suffix += fmt.Sprintf("[%d]", n)
		} else {
			suffix += "[]"
		}
		t = t.Elem()
	}
	text := t.String()
	if i := strings.Index(text, "(*"); i >= 0 && strings.Contains(text[i:], ")(") {
		end := i + strings.Index(text[i:], ")")
		return text[:end] + name + suffix + text[end:]
	}
	if !strings.HasSuffix(text, "*") {
		text += " "
	}
	return text + name + suffix
}
