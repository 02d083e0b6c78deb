// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
)

// TestGoInUnknownRegister prints a value of Go in a register that the frame does not know: without
// its type.
func TestGoInUnknownRegister(t *testing.T) {
	file, err := object.Open(testprogram.Build(t, "govalues"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	functions, err := info.Functions("main.call")
	if err != nil {
		t.Fatal(err)
	}
	scopes, err := info.Scopes(functions[0].Entry)
	if err != nil {
		t.Fatal(err)
	}
	arguments := scopes[len(scopes)-1].Arguments
	if len(arguments) < 20 {
		t.Fatalf("%d arguments", len(arguments))
	}
	p := NewPrinter(0)
	for _, a := range arguments {
		v := Value{typ: a.Type, frame: Static(nil, info, 0), pieces: []Piece{{Kind: InRegister, Column: 3, BitSize: 8 * a.Type.Size()}}}
		got := p.Text(v)
		switch a.Name {
		case "st": // field by field
		case "three":
			if got != "[3]int8 [<optimized out>,<optimized out>,<optimized out>]" {
				t.Errorf("%s: %s", a.Name, got)
			}
		default:
			if got != "<optimized out>" {
				t.Errorf("%s: %s", a.Name, got)
			}
		}
	}
}
