// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"testing"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/value/internal/entry"
)

// TestPlainArgument prints arguments that are numbers, in all kinds of places and repeatedly. The
// text is that of the Value.
func TestPlainArgument(t *testing.T) {
	tests := []struct {
		name, bytes string
		typ         string
		plain       bool // it is printed without a Value
	}{
		{"a register", "53", "long", true},
		{"a register, of which there is less", "53", "char", true},
		{"a register that is not known", "9014", "int", true},
		{"a vector register", "61", "double", true},
		{"a typed register, which is an address", "a50300", "int", true},
		{"an offset from the frame base", "9170", "int", true},
		{"memory that a register leads to", "7300", "unsigned int", true},
		{"an address that cannot be read", "0300000000000000ff", "int", false},
		{"what a register held at the entry", "a301559f", "int", true},
		{"arithmetic", "7301319f", "int", true},
		{"arithmetic with what it held at the entry", "a30155311c9f", "long", true},
		{"bytes", "9e0401020304", "int", true},
		{"too few bytes", "9e020102", "int", false},
		{"pieces", "5393045493 04", "long", false},
		{"an implicit pointer", "a03412000004", "long", false},
		{"no end", "2ffdff", "int", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			info, u := fakeInfo(5)
			b := &body{unit: u, frameBase: entry.Attribute{Kind: entry.AttributeBlock, Bytes: []byte{0x9c}}, root: &node{DebugEntry: object.DebugEntry{}}}
			v := &Variable{Name: "n", Type: Base(amd64, test.typ), Argument: true, info: info, unit: u, body: b,
				location: entry.Attribute{Kind: entry.AttributeBlock, Bytes: unhex(test.bytes)}}
			frame := &fakeFrame{}
			for range 2 {
				if plain := isNumber(t, v, frame); plain != test.plain {
					t.Errorf("plain: %v", plain)
				}
			}
		})
	}
}
