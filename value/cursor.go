// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/internal/leb128"
)

// cursor reads a section front to back.
type cursor struct{ leb128.Cursor }

// faults makes the errors of a cursor over what it names.
type faults string

// Fault implements leb128.Source.
func (name faults) Fault(offset uint64, err error) error {
	return fmt.Errorf("%w: %s+%#x: %w", ErrDebugInfo, string(name), offset, err)
}

func newCursor(source leb128.Source, data []byte, order binary.ByteOrder) cursor {
	return cursor{leb128.Cursor{Data: data, End: uint64(len(data)), Big: order == binary.BigEndian, Source: source}}
}

func (c *cursor) fail(format string, args ...any) { c.Fail(fmt.Errorf(format, args...)) }

// seek moves to an offset of the section.
func (c *cursor) seek(off uint64) {
	if off > c.End {
		c.fail("offset %#x in %#x bytes", off, c.End)
		return
	}
	c.Off = off
}

// offset reads an offset of the 32-bit or 64-bit format.
func (c *cursor) offset(is64 bool) uint64 {
	if is64 {
		return c.Uint(8)
	}
	return c.Uint(4)
}

// uintOf returns the number that 1 to 8 bytes are, 0 for any other count.
func uintOf(order binary.ByteOrder, b []byte) (v uint64) {
	if len(b) > 8 {
		return 0
	}
	if len(b) == 8 {
		return order.Uint64(b)
	}
	if order == binary.BigEndian {
		for _, c := range b {
			v = v<<8 | uint64(c)
		}
		return v
	}
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// putUint fills b, of any length, with the low bytes of v and zeros above.
func putUint(order binary.ByteOrder, b []byte, v uint64) {
	if len(b) == 8 {
		order.PutUint64(b, v)
		return
	}
	for i := range b {
		k := i
		if order == binary.BigEndian {
			k = len(b) - 1 - i
		}
		b[k] = 0
		if i < 8 {
			b[k] = byte(v >> (8 * i))
		}
	}
}

// signExtend returns the number of the low bits of v, of which there are 1 to 64.
func signExtend(v uint64, bits uint64) uint64 {
	if bits == 0 || bits >= 64 {
		return v
	}
	shift := 64 - bits
	return uint64(int64(v<<shift) >> shift)
}
