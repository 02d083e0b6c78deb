// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/internal/leb128"
)

// cursor reads a section front to back. Its error is sticky: reads after it
// return zero.
type cursor struct {
	section string
	data    []byte
	off     uint64 // at most len(data)
	order   binary.ByteOrder
	width   int // bytes of an address: 1, 2, 4 or 8
	err     error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s+%#x: %s", ErrDebugInfo, c.section, c.off, fmt.Sprintf(format, args...))
	}
	c.off = uint64(len(c.data))
}

// seek moves to an offset of the section.
func (c *cursor) seek(off uint64) {
	if off > uint64(len(c.data)) {
		c.fail("offset %#x in %#x bytes", off, len(c.data))
		return
	}
	c.off = off
}

// bytes returns the next n bytes, a view of the section.
func (c *cursor) bytes(n uint64) []byte {
	if left := uint64(len(c.data)) - c.off; n > left {
		c.fail("%d bytes are left, expected %d", left, n)
		return nil
	}
	b := c.data[c.off : c.off+n : c.off+n]
	c.off += n
	return b
}

// uint reads an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) uint(size int) uint64 {
	return uintOf(c.order, c.bytes(uint64(size)))
}

func (c *cursor) address() uint64 { return c.uint(c.width) }

// offset reads an offset of the 32-bit or 64-bit format.
func (c *cursor) offset(is64 bool) uint64 {
	if is64 {
		return c.uint(8)
	}
	return c.uint(4)
}

// uleb128 reads an unsigned LEB128 (DWARF 5 §7.6).
func (c *cursor) uleb128() uint64 {
	v, n, err := leb128.Uint(c.data[c.off:])
	c.passLEB128(n, err)
	return v
}

// sleb128 reads a signed LEB128.
func (c *cursor) sleb128() int64 {
	v, n, err := leb128.Int(c.data[c.off:])
	c.passLEB128(n, err)
	return v
}

// passLEB128 passes the bytes of a number, of which an error keeps the end.
func (c *cursor) passLEB128(n int, err error) {
	if c.off += uint64(n); err != nil {
		c.fail("%v", err)
	}
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
