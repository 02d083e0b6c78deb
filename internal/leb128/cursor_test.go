// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package leb128

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

type names struct{}

func (names) Fault(offset uint64, err error) error { return fmt.Errorf("data+%#x: %w", offset, err) }

// TestCursor checks that no read goes past the end, and that the first error stays and has
// the offset of the short or malformed data.
func TestCursor(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0x83, 0x01, 0x7d, 0x80}
	for _, test := range []struct {
		name string
		read func(c *Cursor) any
		want any
		off  uint64
		err  string
	}{
		{"little-endian", func(c *Cursor) any { return c.Uint(4) }, uint64(0x04030201), 4, ""},
		{"big-endian", func(c *Cursor) any { c.Big = true; return []uint64{c.Uint(2), c.Uint(4), c.Uint(1)} }, []uint64{0x102, 0x3040506, 7}, 7, ""},
		{"eight", func(c *Cursor) any { return c.Uint(8) }, uint64(0x0807060504030201), 8, ""},
		{"signed", func(c *Cursor) any { c.Off = 8; return c.Int(2) }, int64(-1), 10, ""},
		{"LEB128", func(c *Cursor) any { c.Off = 10; return []int64{int64(c.ULEB128()), c.SLEB128()} }, []int64{131, -3}, 13, ""},
		{"byte", func(c *Cursor) any { c.Off = 12; return c.Uint8() }, uint8(0x7d), 13, ""},
		{"all", func(c *Cursor) any { return len(c.Bytes(14)) }, 14, 14, ""},
		{"one more", func(c *Cursor) any { c.Off = 1; return c.Bytes(14) }, []byte(nil), 14, "data+0x1: 13 bytes are left, expected 14"},
		{"far too many", func(c *Cursor) any { c.Off = 1; return c.Bytes(math.MaxUint64) }, []byte(nil), 14, "data+0x1: 13 bytes are left, expected 18446744073709551615"},
		{"before the end of the data", func(c *Cursor) any { c.End = 3; return c.Uint(4) }, uint64(0), 3, "data+0x0: 3 bytes are left, expected 4"},
		{"no byte", func(c *Cursor) any { c.Off = 14; return c.Uint8() }, uint8(0), 14, "data+0xe: 0 bytes are left, expected 1"},
		{"LEB128 that is cut", func(c *Cursor) any { c.Off = 13; return c.ULEB128() }, uint64(0), 14, "data+0xe: LEB128 without end"},
		{"the first error", func(c *Cursor) any { c.Off = 9; c.Uint(8); c.Fail(errors.New("late")); return c.ULEB128() }, uint64(0), 14,
			"data+0x9: 5 bytes are left, expected 8"},
		{"an error elsewhere", func(c *Cursor) any { c.FailAt(5, errors.New("odd")); return c.Uint8() }, uint8(0), 14, "data+0x5: odd"},
	} {
		c := Cursor{Data: data, End: uint64(len(data)), Source: names{}}
		got := test.read(&c)
		text := ""
		if c.Err != nil {
			text = c.Err.Error()
		}
		if fmt.Sprint(got) != fmt.Sprint(test.want) || c.Off != test.off || text != test.err {
			t.Errorf("%s: %v at %d, %q, expected %v at %d, %q", test.name, got, c.Off, text, test.want, test.off, test.err)
		}
	}
	if c := (Cursor{}); c.Uint8() != 0 || c.Err == nil {
		t.Error("a byte of nothing")
	}
}
