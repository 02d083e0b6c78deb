// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/internal/leb128"
)

// cursor reads one entry of a section front to back. Its error is sticky:
// reads after an error return zero, and the caller looks at err once, at the
// end. The error keeps the offset at which the data ended or was malformed.
type cursor struct {
	s     *Section
	off   uint64 // of the next byte, in the section
	end   uint64 // of the entry, in the section; at most len(s.Data)
	width int    // bytes of an address
	big   bool   // byte order
	err   error
}

// cursor returns a cursor over the bytes [offset, end) of the section.
func (s *Section) cursor(offset, end uint64) cursor {
	return cursor{s: s, off: offset, end: end, width: s.Machine.AddressSize, big: s.Machine.Order == binary.BigEndian}
}

func (c *cursor) fail(kind error, format string, args ...any) {
	if c.err == nil {
		c.err = &Error{c.s.Name, c.off, fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))}
	}
	c.off = c.end
}

// bytes returns the next n bytes, which alias the section's data.
func (c *cursor) bytes(n uint64) []byte {
	if n > c.end-c.off {
		c.fail(ErrTruncated, "%d bytes are left, expected %d", c.end-c.off, n)
		return nil
	}
	b := c.s.Data[c.off : c.off+n : c.off+n]
	c.off += n
	return b
}

func (c *cursor) uint8() uint8 {
	if c.off >= c.end {
		c.fail(ErrTruncated, "no byte is left, expected 1")
		return 0
	}
	b := c.s.Data[c.off]
	c.off++
	return b
}

// uint reads an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) uint(size int) uint64 {
	b := c.bytes(uint64(size))
	switch {
	case len(b) == 4 && !c.big:
		return uint64(binary.LittleEndian.Uint32(b))
	case b == nil:
		return 0
	}
	return uintOf(c.s.Machine.Order, b)
}

// int reads a signed number of 1, 2, 4 or 8 bytes.
func (c *cursor) int(size int) int64 {
	shift := 64 - 8*uint(size)
	return int64(c.uint(size)<<shift) >> shift
}

func uintOf(order binary.ByteOrder, b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	case 8:
		return order.Uint64(b)
	}
	return 0
}

// string reads a string of at most limit bytes up to its NUL.
func (c *cursor) string(limit int) string {
	b := c.s.Data[c.off:c.end]
	if len(b) > limit {
		b = b[:limit+1]
	}
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		c.fail(ErrTruncated, "a string without its NUL in %d bytes", len(b))
		return ""
	}
	c.off += uint64(n) + 1
	return string(b[:n])
}

// uleb128 reads an unsigned LEB128 (DWARF 5 §7.6).
func (c *cursor) uleb128() uint64 {
	if c.off < c.end {
		if b := c.s.Data[c.off]; b < 0x80 {
			c.off++
			return uint64(b)
		}
	}
	v, n, err := leb128.Uint(c.s.Data[c.off:c.end])
	c.passLEB128(n, err)
	return v
}

// sleb128 reads a signed LEB128 (DWARF 5 §7.6).
func (c *cursor) sleb128() int64 {
	v, n, err := leb128.Int(c.s.Data[c.off:c.end])
	c.passLEB128(n, err)
	return v
}

// passLEB128 passes the bytes of a number, of which an error keeps the end.
func (c *cursor) passLEB128(n int, err error) {
	c.off += uint64(n)
	if err == leb128.ErrTruncated {
		c.fail(ErrTruncated, "no byte is left, expected 1")
	} else if err != nil {
		c.fail(ErrLEB128, "%v", err)
	}
}
