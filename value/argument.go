// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"errors"
)

// Argument returns what backtraces show of an argument: "n=5", "n=n@entry=5",
// "s=..." for a structure, union or array, "n=<optimized out>".
func (p *Printer) Argument(v *Variable, f Frame) string { return string(p.AppendArgument(nil, v, f)) }

// AppendArgument appends to dst what Argument returns.
func (p *Printer) AppendArgument(dst []byte, v *Variable, f Frame) []byte {
	w := p.start(Value{typ: v.Type})
	defer w.end()
	if !w.plainArgument(v, f) {
		w.argumentOf(v, f)
	}
	return append(dst, w.text...)
}

// evaluator returns what evaluates the locations of an argument. It is to be forgotten,
// and nothing of the values is kept.
func (w *printing) evaluator(v *Variable, f Frame) *evaluator {
	if w.arguments == nil {
		w.arguments = new(evaluator)
	}
	w.arguments.start(v.info, v.unit, v.body, f)
	w.arguments.lent = true
	return w.arguments
}

// argumentOf writes an argument.
func (w *printing) argumentOf(v *Variable, f Frame) {
	e := w.evaluator(v, f)
	defer e.forget()
	actual := v.readBy(e)
	e.own = budget{}
	entry, entryErr := v.entryBy(e)
	if entryErr == nil {
		entryErr = entry.Err()
	}
	w.add(v.Name)
	if entryErr == nil && actual.Err() != nil && !errors.Is(actual.Err(), ErrOptimizedOut) {
		// Only the value at the entry is known.
		w.add("@entry=")
		w.argument(entry)
		return
	}
	same := entryErr == nil && w.same(actual, entry)
	if same {
		w.add("=")
		w.add(v.Name)
		w.add("@entry")
	}
	w.add("=")
	w.argument(actual)
	if entryErr == nil && !same {
		w.add(", ")
		w.add(v.Name)
		w.add("@entry=")
		w.argument(entry)
	}
}

// same reports whether two values can be read and have the same bytes.
func (w *printing) same(v, other Value) bool {
	b, err := w.bytes(&w.room, v)
	if err != nil {
		return false
	}
	a, err := w.bytes(&w.other, other)
	return err == nil && bytes.Equal(a, b)
}

// argument writes the value of an argument.
func (w *printing) argument(v Value) {
	if !v.isPlain() {
		w.add(w.Printer.argument(v))
		return
	}
	b, err := w.bytes(&w.room, v)
	switch {
	case err == nil:
		w.number(v, v.typ.Strip(), b)
	case errors.Is(err, ErrOptimizedOut):
		w.add("<" + optimizedOut + ">")
	case v.ReadError() != nil:
		w.add("<error reading variable: " + message(err) + ">")
	default:
		w.fail(err)
	}
}

// argument returns the text of a value in a list of arguments.
func (p *Printer) argument(v Value) string {
	if err := v.ReadError(); err != nil {
		return "<error reading variable: " + message(err) + ">"
	}
	if v.typ.goType() != nil {
		return p.goArgument(v)
	}
	if t := scalarType(v.typ); !isScalar(t) {
		return p.summary(v)
	}
	return p.Text(v)
}

// summary returns what backtraces show of a structure, union or array, or of what a
// reference to one leads to.
func (p *Printer) summary(v Value) string {
	if v.err == nil && v.typ.Strip().kind == RvalueReference {
		v = v.Deref()
	}
	w := p.start(v)
	defer w.end()
	shown, ok := w.presented(v)
	switch {
	case v.typ.Strip().partial || v.err != nil && !errors.Is(v.err, ErrOptimizedOut):
		w.value(v, 0, true)
		return string(w.text)
	case !ok:
		return "..."
	}
	w.present(shown, 0, true)
	return string(w.text)
}

// isPlain reports whether a value is printed as the number that its bytes are, which
// most arguments are.
func (v Value) isPlain() bool {
	if v.err != nil || v.typ == nil || v.typ.goType() != nil || v.implicit() != nil {
		return false
	}
	switch t := v.typ.Strip(); t.kind {
	case Bool, Char, Int, Float, Decimal, Complex, Enum, Pointer, MemberPointer:
		return !t.partial
	}
	return false
}

// bytes reads the bytes of a value to the room that there is for a few of them.
func (w *printing) bytes(room *[16]byte, v Value) ([]byte, error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	size := v.typ.Size()
	if size > uint64(len(room)) {
		return v.Bytes()
	}
	b := room[:size]
	return b, v.read(b)
}
