// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package leb128

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestUint(t *testing.T) {
	for _, test := range []struct {
		hex string
		v   uint64
		n   int
		err error
	}{
		// DWARF 5 §7.6, table 7.7.
		{"02", 2, 1, nil},
		{"7f", 127, 1, nil},
		{"8001", 128, 2, nil},
		{"8101", 129, 2, nil},
		{"b964", 12857, 2, nil},
		{"", 0, 0, ErrTruncated},
		{"80", 0, 1, ErrTruncated},
		{"ffffffffffffffffff01", math.MaxUint64, 10, nil},
		{"ffffffffffffffffff02", 0, 10, ErrUnsigned},
		{"80808080808080808002", 0, 10, ErrUnsigned},
		{"8080808080808080808001", 0, 11, ErrUnsigned},
		// Padded.
		{"8200", 2, 2, nil},
		{"82808080808080808080808000ff", 2, 13, nil},
		{strings.Repeat("80", 31) + "00", 0, 32, nil},
		{strings.Repeat("80", 32) + "00", 0, 32, ErrTooLong},
		{strings.Repeat("80", 32), 0, 32, ErrTooLong},
		{strings.Repeat("80", 31), 0, 31, ErrTruncated},
	} {
		b, _ := hex.DecodeString(test.hex)
		if v, n, err := Uint(b); v != test.v || n != test.n || !errors.Is(err, test.err) {
			t.Errorf("%s: %d, %d bytes, %v; expected %+v", test.hex, v, n, err, test)
		}
	}
}

func TestInt(t *testing.T) {
	for _, test := range []struct {
		hex string
		v   int64
		n   int
		err error
	}{
		// DWARF 5 §7.6, table 7.8.
		{"02", 2, 1, nil},
		{"7e", -2, 1, nil},
		{"ff00", 127, 2, nil},
		{"817f", -127, 2, nil},
		{"8001", 128, 2, nil},
		{"807f", -128, 2, nil},
		{"ff7e", -129, 2, nil},
		{"", 0, 0, ErrTruncated},
		{"ffffffffffffffffff00", math.MaxInt64, 10, nil},
		{"8080808080808080807f", math.MinInt64, 10, nil},
		{"80808080808080808002", 0, 10, ErrSigned},
		// Padded.
		{"8200", 2, 2, nil},
		{"feff7f", -2, 3, nil},
		{"f9ffffffffffffffffffffff7f", -7, 13, nil},
		{"feffffffffffffffffffff00", 0, 12, ErrSigned},
		// Old gas.
		{"f9ffffffffffffffff01", -7, 10, nil},
		{"80808080808080808001", math.MinInt64, 10, nil},
		{"f9ffffffffffffffff8100", 0, 10, ErrSigned},
		{strings.Repeat("80", 32) + "00", 0, 32, ErrTooLong},
	} {
		b, _ := hex.DecodeString(test.hex)
		if v, n, err := Int(b); v != test.v || n != test.n || !errors.Is(err, test.err) {
			t.Errorf("%s: %d, %d bytes, %v; expected %+v", test.hex, v, n, err, test)
		}
	}
}

func TestPutUint(t *testing.T) {
	b := []byte{0x82, 0x80, 0x00, 0xff}
	if !PutUint(b, 0x1234) || !bytes.Equal(b, []byte{0xb4, 0xa4, 0x00, 0xff}) {
		t.Errorf("% x", b)
	}
	if b := []byte{0x82, 0x80}; PutUint(b, 1) {
		t.Errorf("% x", b)
	}
}

// exact returns the number at the start of b, of any size, and its length; nil if it has no
// end.
func exact(b []byte, signed bool) (*big.Int, int) {
	v := new(big.Int)
	for i, c := range b {
		v.Or(v, new(big.Int).Lsh(big.NewInt(int64(c&0x7f)), uint(7*i)))
		if c < 0x80 {
			if signed && c&0x40 != 0 {
				v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(7*i+7)))
			}
			return v, i + 1
		}
	}
	return nil, len(b)
}

// A number of at most 64 bits and MaxSize bytes is read exactly, and any other is an error,
// except for the form of old gas.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"02", "7e", "b964", "80808080808080808001", "ffffffffffffffffff01", strings.Repeat("80", 40), "8200ff"} {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, n, err := Uint(b)
		want, length := exact(b, false)
		fits := want != nil && length <= MaxSize && want.IsUint64()
		if fits != (err == nil) || fits && (v != want.Uint64() || n != length) || n > len(b) {
			t.Fatalf("% x: %d, %d, %v; expected %v, %d", b, v, n, err, want, length)
		}
		if fits {
			short := AppendUint(nil, v)
			if again, n, err := Uint(short); again != v || n != len(short) || n != Size(v) || err != nil {
				t.Fatalf("%d: % x: %d, %d, %v", v, short, again, n, err)
			}
		}
		if n := Len(b); n != 0 && n != length || n == 0 && want != nil && length <= MaxSize {
			t.Fatalf("% x: length %d, expected %d", b, n, length)
		}
		i, n, err := Int(b)
		want, length = exact(b, true)
		if length == 10 && want != nil && b[9] == 1 {
			want.Sub(want, new(big.Int).Lsh(big.NewInt(1), 64))
		}
		fits = want != nil && length <= MaxSize && want.IsInt64()
		if fits != (err == nil) || fits && (i != want.Int64() || n != length) || n > len(b) {
			t.Fatalf("% x: %d, %d, %v; expected %v, %d", b, i, n, err, want, length)
		}
		if fits {
			short := AppendInt(nil, i)
			if again, n, err := Int(short); again != i || n != len(short) || err != nil {
				t.Fatalf("%d: % x: %d, %d, %v", i, short, again, n, err)
			}
		}
	})
}
