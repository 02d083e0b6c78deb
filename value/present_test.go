// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"strings"
	"testing"
)

// Whoever presents values cannot have a Printer go on without end.
func TestPresentBounds(t *testing.T) {
	pair := &Type{machine: amd64, language: CPlusPlus, kind: Struct, name: "pair", size: 8, sized: true, ready: true,
		fields: []Field{{Name: "first", Type: Base(amd64, "int")}, {Name: "second", Type: Base(amd64, "int"), Offset: 4}}}
	v := Constant(pair, make([]byte, 8), nil)
	endless := func(c Child) func(Value) (Presentation, bool) {
		return func(Value) (Presentation, bool) {
			return Presentation{Text: "it", Children: func(yield func(Child) bool) {
				for yield(c) {
				}
			}}, true
		}
	}
	for _, test := range []struct {
		name    string
		present func(Value) (Presentation, bool)
		want    string // how it begins
		end     string
	}{
		{"a value in its own place", func(v Value) (Presentation, bool) { return Presentation{Value: v}, true }, "{...}", ""},
		{"a value in itself", func(v Value) (Presentation, bool) {
			return Presentation{Text: "it", Children: func(yield func(Child) bool) { yield(Child{Value: v}) }}, true
		}, "it = {it = {it = {", "it = {...}}}}}}}}}}}}}}}}}}}}}"},
		{"elements without end", endless(Child{Value: Constant(Base(amd64, "int"), make([]byte, 4), nil)}), "it = {0, 0, 0, ", ", 0...}"},
		{"nothing without end", endless(Child{Nothing: true}), "it = {...}", ""},
		{"none", func(Value) (Presentation, bool) { return Presentation{}, false }, "{first = 0, second = 0}", ""},
	} {
		got := (&Printer{Present: test.present}).Text(v)
		if !strings.HasPrefix(got, test.want) || !strings.HasSuffix(got, test.end) || test.end == "" && got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	// Of what is nowhere nothing is presented, and a summary says whether there is something.
	lost := Value{typ: pair, pieces: []Piece{{Kind: OptimizedOut, BitSize: 64}}}
	p := &Printer{Present: endless(Child{Value: v})}
	if got := p.Text(lost); got != "<optimized out>" {
		t.Error(got)
	}
	if got := p.summary(v); got != "it = {...}" {
		t.Error(got)
	}
}
