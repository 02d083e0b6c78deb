// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package x86_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/x86"
)

// Package displace compares the sizes of every opcode with objdump's.
var decodeTests = []struct {
	code string
	want x86.Instruction // without Code; the zero value for no instruction
	size int
}{
	{"55", x86.Instruction{Opcode: 0x55}, 1},
	{"4157", x86.Instruction{Opcode: 0x57, Rex: true, RexB: true}, 2},
	{"4881ec00010000", x86.Instruction{Opcode: 0x81, Rex: true, Wide: true, ModRM: 2, Immediate: 3}, 7},
	{"488b442408", x86.Instruction{Opcode: 0x8b, Rex: true, Wide: true, ModRM: 2, Displacement: 4}, 5},
	{"488d0511223344", x86.Instruction{Opcode: 0x8d, Rex: true, Wide: true, ModRM: 2, Displacement: 3, RIPRelative: true}, 7},
	{"64488b042528000000", x86.Instruction{Opcode: 0x8b, Rex: true, Wide: true, Segment: 0x64, ModRM: 3, Displacement: 5}, 9},
	{"0f8400010000", x86.Instruction{Map: x86.Map0F, Opcode: 0x84, Relative: 2}, 6},
	{"c5f877", x86.Instruction{Map: x86.Map0F, Opcode: 0x77, Vector: true}, 3},
	{"c4e2f0f2c2", x86.Instruction{Map: x86.Map0F38, Opcode: 0xf2, Vector: true, Wide: true, ModRM: 4}, 5},
	{"62f17c48100424", x86.Instruction{Map: x86.Map0F, Opcode: 0x10, Vector: true, ModRM: 5}, 7},
	{"66", x86.Instruction{}, 0},       // ends after a prefix
	{"d518505a", x86.Instruction{}, 0}, // REX2: pushp of APX
	{"62f4fc1810", x86.Instruction{}, 0},
	{"66666666666666666666666666666690", x86.Instruction{}, 0}, // 16 bytes
}

func TestDecode(t *testing.T) {
	for _, test := range decodeTests {
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(err)
		}
		var i x86.Instruction
		if err := i.Decode(code); err != nil {
			if test.size != 0 || !errors.Is(err, x86.ErrInvalid) {
				t.Errorf("%s: %v", test.code, err)
			}
			continue
		}
		test.want.Code = code[:test.size]
		if hex.EncodeToString(i.Code) != hex.EncodeToString(test.want.Code) {
			t.Errorf("%s: %d bytes, want %d", test.code, len(i.Code), test.size)
		}
		i.Code, test.want.Code = nil, nil
		if got, want := format(&i), format(&test.want); got != want {
			t.Errorf("%s: %s, want %s", test.code, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, test := range decodeTests {
		code, _ := hex.DecodeString(test.code)
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		var i x86.Instruction
		if i.Decode(code) != nil {
			return
		}
		size := len(i.Code)
		for _, at := range []int{i.ModRM, i.Displacement, i.Immediate, i.Relative} {
			if at < 0 || at >= size {
				t.Errorf("% x: a part at %d", i.Code, at)
			}
		}
		var again x86.Instruction
		if err := again.Decode(i.Code); err != nil || len(again.Code) != size {
			t.Errorf("% x: %v on its own", i.Code, err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	code, _ := hex.DecodeString(strings.Repeat("554889e5415741564883ec18488b44240864488b042528000000e8000000000f84000100005dc3", 8))
	b.SetBytes(int64(len(code)))
	var i x86.Instruction
	for b.Loop() {
		for at := 0; at < len(code); at += len(i.Code) {
			if err := i.Decode(code[at:]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func format(i *x86.Instruction) string { return fmt.Sprintf("%+v", *i) }
