// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"errors"
	"testing"

	"github.com/clewdev/clew/value/internal/number"
)

// textPrinter is the part of [print.Printer] that tests of this package use.
type textPrinter = interface {
	Print(v Value) (string, error)
	Text(v Value) string
	Argument(v *Variable, f Frame) string
	Variable(v *Variable, f Frame) string
}

// NewPrinter returns a printer with a format. An external test sets it, because package print
// imports this package.
var NewPrinter func(format byte) textPrinter

// maxPrinted bounds the text of a value, in bytes.
const maxPrinted = 1<<20 + 1<<16

// isNumber reports whether an ArgumentReader reads a variable as a number, and checks that it equals
// the variable's value.
func isNumber(t *testing.T, v *Variable, f Frame) bool {
	t.Helper()
	var r ArgumentReader
	n, ok := r.Number(v, f)
	if !ok {
		return false
	}
	actual, entry, entryErr := r.Read(v, f)
	defer r.Release()
	b, err := actual.Bytes()
	switch {
	case !n.HasActual && !errors.Is(err, ErrOptimizedOut):
		t.Errorf("%s is optimized out as a number, as a value %x, %v", v.Name, b, err)
	case n.HasActual && (err != nil || number.Uint(n.Type.machine.Order, b) != n.Actual):
		t.Errorf("%s is %#x, as a value %x, %v", v.Name, n.Actual, b, err)
	}
	if b, err = nil, entryErr; err == nil {
		b, err = entry.Bytes()
	}
	if n.HasEntry != (err == nil) || n.HasEntry && number.Uint(n.Type.machine.Order, b) != n.Entry {
		t.Errorf("%s was %#x (known: %v), as a value %x, %v", v.Name, n.Entry, n.HasEntry, b, err)
	}
	return true
}
