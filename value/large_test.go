// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import "testing"

// zeros is memory of zero bytes, except for the first four of each 4 KiB.
type zeros struct{}

func (zeros) ReadMemory(p []byte, address uint64) error {
	for i := range p {
		p[i] = 0
		if at := address + uint64(i); at%4096 < 4 {
			p[i] = "abc\x00"[at%4096]
		}
	}
	return nil
}

// TestLarge prints values that are too large to be read as a whole by their parts, and the beginning
// of arrays.
func TestLarge(t *testing.T) {
	number, char := Base(amd64, "int"), Base(amd64, "char")
	structure := &Type{machine: amd64, language: C, kind: Struct, name: "large", size: 1 << 20, sized: true, ready: true,
		fields: []Field{{Name: "text", Type: ArrayOf(char, 1<<17), Offset: 4096}, {Name: "n", Type: number, Offset: 1<<20 - 8}}}
	frame := Static(zeros{}, nil, 0)
	for _, test := range []struct {
		typ  *Type
		want string
	}{
		{ArrayOf(number, 1<<20), "{6513249, 0 <repeats 1023 times>, 6513249, 0 <repeats 1023 times>"},
		{ArrayOf(char, 1<<20), `"abc", '\000' <repeats 4093 times>...`},
		{structure, `{text = "abc", '\000' <repeats 4093 times>..., n = 0}`},
		{ArrayOf(ArrayOf(number, 1<<16), 1<<10), "{{6513249, 0 <repeats 1023 times>, "},
		{ArrayOf(number, 1<<60), "<error: value requires 4611686018427387904 bytes, "},
	} {
		p := NewPrinter(0)
		got := p.Text(At(test.typ, 0x1000, frame))
		if len(got) < len(test.want) || got[:len(test.want)] != test.want {
			t.Errorf("%s: %s", test.typ, got)
		}
	}
	if _, err := NewPrinter(0).Print(At(ArrayOf(number, 1<<20), 0x1000, frame)); err != nil {
		t.Error(err)
	}
	if _, err := NewPrinter(0).Print(Constant(ArrayOf(number, 1<<20), nil, nil)); err == nil {
		t.Error("what has no place was printed")
	}
}
