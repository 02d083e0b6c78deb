// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"strings"

	"github.com/clewdev/clew/value"
)

// rust returns a structure, union or enum of Rust in full, as gdb's ptype shows it.
func (w *typeWriter) rust(t *value.Type) string {
	t = t.Strip()
	switch {
	case t.HasVariants():
		var lines []string
		for _, v := range t.Variants() {
			if w.size > maxTypeText {
				lines = append(lines, "...")
				break
			}
			lines = append(lines, v.Name+w.rustVariant(v.Type))
			w.size += len(lines[len(lines)-1])
		}
		return "enum " + t.Name() + rustLines(" {", lines, "}")
	case t.Kind() == value.Enum:
		var lines []string
		for _, e := range t.Enumerators() {
			lines = append(lines, e.Name)
		}
		return "enum " + t.Name() + rustLines(" {", lines, "}")
	}
	fields := t.Fields()
	switch head := strings.TrimSuffix(head(t), " "); {
	case strings.HasPrefix(t.Name(), "("):
		return t.Name()
	case len(fields) == 0:
		return head
	case isRustTuple(fields):
		return head + rustLines(" (", w.rustFields(fields, false), ")")
	default:
		return head + rustLines(" {", w.rustFields(fields, true), "}")
	}
}

// rustVariant returns the fields of a variant: "(i32, f64)" or "{w: f64, h: f64}".
func (w *typeWriter) rustVariant(t *value.Type) string {
	fields := t.Strip().Fields()
	switch {
	case len(fields) == 0:
		return ""
	case isRustTuple(fields):
		return "(" + strings.Join(w.rustFields(fields, false), ", ") + ")"
	}
	return "{" + strings.Join(w.rustFields(fields, true), ", ") + "}"
}

// isRustTuple reports whether the fields have numbers instead of names: __0.
func isRustTuple(fields []value.Field) bool {
	return len(fields) > 0 && fields[0].Name == "__0"
}

func (w *typeWriter) rustFields(fields []value.Field, named bool) (list []string) {
	for _, f := range fields {
		if w.size > maxTypeText {
			return append(list, "...")
		}
		text := f.Type.String()
		if named {
			text = f.Name + ": " + text
		}
		w.size += len(text)
		list = append(list, text)
	}
	return list
}

func rustLines(open string, lines []string, end string) string {
	var b strings.Builder
	b.WriteString(open + "\n")
	for _, line := range lines {
		b.WriteString("  " + line + ",\n")
	}
	return b.String() + end
}
