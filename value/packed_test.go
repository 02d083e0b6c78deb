// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import "testing"

// TestPackedArray reads arrays with distances between elements that are not a number of bytes, also
// negative ones.
func TestPackedArray(t *testing.T) {
	bytes := make([]byte, 64)
	for k := range bytes {
		bytes[k] = byte(0x10*(2*k+1)%256 + 2*k)
	}
	for _, test := range []struct {
		elem     string
		language Language
		stride   int64
		count    uint64
		want     string
	}{
		{"unsigned int", C, 4, 5, "{0, 1, 2, 3, 4}"},
		{"unsigned char", C, 4, 3, `{0 '\000', 1 '\001', 2 '\002'}`},
		{"int", C, 4, 9, "{0, 1, 2, 3, 4, 5, 6, 7, -8}"},
		{"unsigned int", Rust, 4, 3, "[0, 1, 2]"},
		{"unsigned int", Fortran, 4, 3, "(0, 1, 2)"},
		{"unsigned int", C, 40, 2, "{1985229328, 553573562}"},
		{"unsigned int", C, 1 << 39, 2, "{1985229328, <error: Cannot access memory at address 0x1000000000>}"},
		{"unsigned int", C, 3, 1, "{0}"},
		{"unsigned int", C, -4, 2, "{0, <error: value is not located in memory: an element -4 bits into an array>}"},
		{"unsigned int", C, 1<<40 - 1, 1 << 30, ""},
	} {
		array := ArrayOf(Base(amd64, test.elem), test.count)
		array.language, array.stride = test.language, test.stride
		v := Constant(array, bytes, new(packedFrame))
		for range 2 { // in a constant and in memory
			for _, format := range []byte("\x00xc") {
				p := NewPrinter(format)
				if text := p.Text(v); format == 0 && test.want != "" && v.pieces[0].Kind == InMemory && text != test.want {
					t.Errorf("%+v: %s", test, text)
				}
				_, _ = p.Print(v)
			}
			nested := ArrayOf(array, 3) // its elements begin within a byte
			_ = NewPrinter(0).Text(Value{typ: nested, frame: v.frame, pieces: v.pieces})
			v = At(array, 0, &packedFrame{bytes: bytes})
		}
	}
}

// packedFrame is a frame with some memory at address 0.
type packedFrame struct {
	fakeFrame
	bytes []byte
}

func (f *packedFrame) ReadMemory(p []byte, addr uint64) error {
	if addr > uint64(len(f.bytes)) || uint64(len(p)) > uint64(len(f.bytes))-addr {
		return ErrNoAddress
	}
	copy(p, f.bytes[addr:])
	return nil
}
