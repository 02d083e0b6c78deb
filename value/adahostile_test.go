// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import "testing"

// TestHostileAda prints a record that is its own parent twice, a literal without a name, and a
// reference to itself.
func TestHostileAda(t *testing.T) {
	record := &Type{machine: amd64, language: Ada, kind: Struct, name: "r", size: 8, sized: true, ready: true}
	record.fields = []Field{{Name: "_parent", Type: record}, {Name: "_parent", Type: record}}
	literal := &Type{machine: amd64, language: Ada, kind: Enum, name: "e", size: 8, sized: true, ready: true, enums: []Enumerator{{Value: 7}}}
	reference := &Type{machine: amd64, language: Ada, kind: Reference, size: 8, sized: true, ready: true}
	reference.elem = reference
	for typ, want := range map[*Type]string{record: "()", literal: "", reference: "(...)"} {
		v := Constant(typ, []byte{7, 0, 0, 0, 0, 0, 0, 0}, new(packedFrame))
		if typ == reference {
			v = At(typ, 0, &packedFrame{bytes: make([]byte, 8)}) // at the address that it has
		}
		if text := NewPrinter(0).Text(v); text != want {
			t.Errorf("%s: %q, expected %q", typ.name, text, want)
		}
	}
}
