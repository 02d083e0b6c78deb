// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package print

import (
	"bytes"
	"errors"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
)

// Argument returns the text of an argument in a backtrace: "n=5", "n=n@entry=5",
// "s=..." for a structure, union or array, "n=<optimized out>".
func (p *Printer) Argument(v *value.Variable, f value.Frame) string {
	return string(p.AppendArgument(nil, v, f))
}

// AppendArgument appends the text that Argument returns to dst.
func (p *Printer) AppendArgument(dst []byte, v *value.Variable, f value.Frame) []byte {
	w := p.start(v.Type)
	defer w.end()
	if !w.plainArgument(v, f) {
		w.argumentOf(v, f)
	}
	return append(dst, w.text...)
}

// argumentOf writes an argument.
func (w *printing) argumentOf(v *value.Variable, f value.Frame) {
	r := w.reader()
	defer r.Release()
	actual, entry, entryErr := r.Read(v, f)
	if entryErr == nil {
		entryErr = entry.Err()
	}
	if entryErr == nil && actual.Err() != nil && !errors.Is(actual.Err(), value.ErrOptimizedOut) {
		// Only the value at the entry is known.
		w.add(v.Name, "@entry=")
		w.argument(entry)
		return
	}
	w.values(v.Name, entryErr == nil && w.same(actual, entry), entryErr == nil, func(isEntry bool) {
		if isEntry {
			w.argument(entry)
		} else {
			w.argument(actual)
		}
	})
}

// values writes the value of an argument, and its value at the entry if that is known and not the
// same.
func (w *printing) values(name string, same, hasEntry bool, write func(isEntry bool)) {
	w.add(name)
	if same {
		w.add("=", name, "@entry")
	}
	w.add("=")
	write(false)
	if hasEntry && !same {
		w.add(", ", name, "@entry=")
		write(true)
	}
}

// same reports whether two values can be read and have the same bytes.
func (w *printing) same(v, other value.Value) bool {
	b, err := v.BytesIn(w.buffer[:])
	if err != nil {
		return false
	}
	a, err := other.BytesIn(w.other[:])
	return err == nil && bytes.Equal(a, b)
}

// argument writes the value of an argument.
func (w *printing) argument(v value.Value) {
	if !v.IsPlain() {
		w.add(w.Printer.argument(v))
		return
	}
	b, err := v.BytesIn(w.buffer[:])
	switch {
	case err == nil:
		w.number(v, v.Type().Strip(), b)
	case v.ReadError() != nil:
		w.add("<error reading variable: " + message(err) + ">")
	default:
		w.unreadable(err)
	}
}

// argument returns the text of a value in a list of arguments.
func (p *Printer) argument(v value.Value) string {
	if err := v.ReadError(); err != nil {
		return "<error reading variable: " + message(err) + ">"
	}
	if v.Type().GoType() != nil {
		return p.goArgument(v)
	}
	if t := scalarType(v.Type()); !isScalar(t) {
		return p.summary(v)
	}
	return p.Text(v)
}

// summary returns the text of a structure, union or array, or of a reference to one, in a
// backtrace.
func (p *Printer) summary(v value.Value) string {
	if v.LocationErr() == nil && v.Type().Strip().Kind() == value.RvalueReference {
		v = v.Deref()
	}
	w := p.start(v.Type())
	defer w.end()
	shown, ok := w.presented(v)
	switch {
	case v.Type().Strip().Incomplete() || v.LocationErr() != nil && !errors.Is(v.LocationErr(), value.ErrOptimizedOut):
		w.value(v, 0, true)
	case ok:
		w.present(shown, 0, true)
	default:
		return "..."
	}
	return string(w.text)
}

// reader returns the reader of arguments.
func (w *printing) reader() *value.ArgumentReader {
	if w.arguments == nil {
		w.arguments = new(value.ArgumentReader)
	}
	return w.arguments
}

// plainArgument writes an argument as AppendArgument does if its value is plain. Else it
// writes nothing and returns false.
func (w *printing) plainArgument(v *value.Variable, f value.Frame) bool {
	n, ok := w.reader().Number(v, f)
	if !ok {
		return false
	}
	w.values(v.Name, n.HasEntry && n.HasActual && n.Actual == n.Entry, n.HasEntry, func(isEntry bool) {
		switch {
		case isEntry:
			w.plainNumber(v, f, &n, n.Entry)
		case n.HasActual:
			w.plainNumber(v, f, &n, n.Actual)
		default:
			w.add("<" + optimizedOut + ">")
		}
	})
	return true
}

func (w *printing) plainNumber(v *value.Variable, f value.Frame, of *value.ArgumentNumber, n uint64) {
	b := w.buffer[:of.Size]
	number.PutUint(of.Type.Machine().Order, b, n)
	w.number(value.Lost(v.Type, f), of.Type, b)
}
