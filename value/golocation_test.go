// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"strings"
	"testing"
)

// TestGoPlaced assigns the pieces of Go's compiler to the numbers of a type. It fails if their
// number is different.
func TestGoPlaced(t *testing.T) {
	padded := []goNumber{{0, 2}, {4, 4}, {8, 8}, {16, 8}}
	slice := []goNumber{{0, 8}, {8, 8}, {16, 8}}
	for _, tt := range []struct {
		name       string
		expression string
		numbers    []goNumber
		want       string
	}{
		{"padding between fields", "509302 519304 529308 539308", padded, "DW_OP_reg0:2 :2 DW_OP_reg1:4 DW_OP_reg2:8 DW_OP_reg3:8"},
		{"with pieces for gaps", "509302 9302 519304 529308 539308", padded, "DW_OP_reg0:2 :2 DW_OP_reg1:4 DW_OP_reg2:8 DW_OP_reg3:8"},
		// DW_OP_reg0 DW_OP_piece 1, DW_OP_piece 7, DW_OP_reg3 DW_OP_piece 8, DW_OP_piece 7, DW_OP_reg2 DW_OP_piece 8
		{"of Go 1.22 to 1.24", "509301 9307 539308 9307 529308", []goNumber{{0, 1}, {8, 8}, {16, 8}}, "DW_OP_reg0:1 :7 DW_OP_reg3:8 DW_OP_reg2:8"},
		{"a number that is lost", "9308 911093 08", []goNumber{{0, 8}, {8, 8}}, ":8 DW_OP_fbreg:8"},
		{"two of three", "509308 529308", slice, "unknown"},
		{"one more", "509308 529308 519308 539308", slice, "unknown"},
		{"of another size", "509308 529304 519308", slice, "unknown"},
		{"numbers that overlap", "509308 529308", []goNumber{{0, 8}, {4, 8}}, "unknown"},
		{"no end", "509308 52", slice, "not taken apart"},
		{"bits", "509d0800", slice, "not taken apart"},
	} {
		info, _ := fakeInfo(5)
		parts, ok := goParts(info.decode(unhex(strings.ReplaceAll(tt.expression, " ", "")), 0))
		got := "not taken apart"
		if ok {
			got = "unknown"
			if placed, ok := goPlaced(parts, tt.numbers); ok {
				got = ""
				for _, p := range placed {
					place := ""
					if len(p.place) > 0 {
						place = p.place[0].Op.String()
					}
					got += fmt.Sprintf(" %s:%d", place, p.size)
				}
				got = got[1:]
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, expected %q", tt.name, got, tt.want)
		}
	}
}

// TestGoPlace recognizes expressions that are a register or a place in memory, as a whole or as one
// of several pieces.
func TestGoPlace(t *testing.T) {
	for _, tt := range []struct {
		expression      string
		register, alone bool
	}{
		{"", false, true},
		{"50", true, true},
		{"5f9308", true, false},
		{"9011", true, true},
		{"90119308", true, false},
		{"9c", false, true},
		{"9c9308", false, false},
		{"9188", false, false}, // truncated
		{"918801", false, true},
		{"9188019308", false, false},
		{"9308509308", false, false},
		{"91", false, false},
	} {
		if register, alone := goPlace(unhex(tt.expression)); register != tt.register || alone != tt.alone {
			t.Errorf("%s: register %t, alone %t", tt.expression, register, alone)
		}
	}
}

// TestGoNumbers lists the numbers of which a variable consists, also for hostile types.
func TestGoNumbers(t *testing.T) {
	word, half := &Type{machine: amd64, kind: Int, size: 8, sized: true, ready: true}, &Type{machine: amd64, kind: Int, size: 2, sized: true, ready: true}
	structure := func(size uint64, fields ...Field) *Type {
		return &Type{machine: amd64, kind: Struct, size: size, sized: true, ready: true, fields: fields}
	}
	text := structure(16, Field{Type: word}, Field{Type: word, Offset: 8})
	array := func(n uint64, of *Type) *Type {
		return &Type{machine: amd64, kind: Array, elem: of, count: n, counted: true, ready: true}
	}
	loop := structure(8)
	loop.fields = []Field{{Type: loop}}
	twice := structure(8)
	for range maxChain - 2 {
		twice = structure(8, Field{Type: twice}, Field{Type: twice})
	}
	for _, tt := range []struct {
		name string
		typ  *Type
		want string
	}{
		{"a number", word, "[{0 8}]"},
		{"a structure", structure(24, Field{Type: half}, Field{Type: text, Offset: 8}), "[{0 2} {8 8} {16 8}]"},
		{"an array", array(2, text), "[{0 8} {8 8} {16 8} {24 8}]"},
		{"an empty array in a structure", structure(8, Field{Type: array(0, word)}, Field{Type: word}), "[{0 8}]"},
		{"a complex number", &Type{machine: amd64, kind: Complex, size: 16, sized: true, ready: true}, "[{0 8} {8 8}]"},
		{"too many", array(1<<40, word), "too many"},
		{"a structure in itself", loop, "too many"},
		{"structures without a number", twice, "too many"},
		{"an array of them", array(1<<40, structure(1)), "too many"},
	} {
		list, ok := tt.typ.goNumbers()
		got := fmt.Sprint(list)
		if !ok {
			got = "too many"
		}
		if got != tt.want {
			t.Errorf("%s: %s, expected %s", tt.name, got, tt.want)
		}
	}
}
