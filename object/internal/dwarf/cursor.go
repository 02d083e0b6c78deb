// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/clewdev/clew/internal/leb128"
)

// cursor reads a section. The first error sticks: what is read after it is
// zero, and the caller looks at err once.
type cursor struct {
	data    []byte
	off     int
	big     bool // big-endian
	section string
	err     error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s at %#x: %s", c.section, c.off, fmt.Sprintf(format, args...))
		c.off = len(c.data)
	}
}

// short fails for want of bytes: a call of its own, so that its text is not put together
// in each place that reads a number.
//
//go:noinline
func (c *cursor) short(wanted int) { c.fail("%d bytes wanted, %d left", wanted, c.remain()) }

func (c *cursor) remain() int { return len(c.data) - c.off }

// take returns the next n bytes, or nil after an error.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(c.remain()) {
		c.fail("%d bytes wanted, %d left", n, c.remain())
		return nil
	}
	b := c.data[c.off:][:n]
	c.off += int(n)
	return b
}

func (c *cursor) u8() (b uint8) {
	if c.off < len(c.data) {
		b = c.data[c.off]
		c.off++
		return b
	}
	c.short(1)
	return 0
}

func (c *cursor) u16() uint16 {
	b := c.data[c.off:]
	if len(b) < 2 {
		c.short(2)
		return 0
	}
	c.off += 2
	v := binary.LittleEndian.Uint16(b)
	if c.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (c *cursor) u24() uint32 {
	b := c.take(3)
	switch {
	case b == nil:
		return 0
	case c.big:
		return uint32(b[2]) | uint32(b[1])<<8 | uint32(b[0])<<16
	}
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
}

func (c *cursor) u32() uint32 {
	b := c.data[c.off:]
	if len(b) < 4 {
		c.short(4)
		return 0
	}
	c.off += 4
	v := binary.LittleEndian.Uint32(b)
	if c.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (c *cursor) u64() uint64 {
	b := c.data[c.off:]
	if len(b) < 8 {
		c.short(8)
		return 0
	}
	c.off += 8
	v := binary.LittleEndian.Uint64(b)
	if c.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// sized reads an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) sized(n int) uint64 {
	switch n {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	case 8:
		return c.u64()
	}
	c.fail("numbers of %d bytes", n)
	return 0
}

// offset reads a section offset of the 32-bit or the 64-bit format.
func (c *cursor) offset(is64 bool) uint64 {
	if is64 {
		return c.u64()
	}
	return uint64(c.u32())
}

// length reads an initial length (DWARF 5 §7.4).
func (c *cursor) length() (n uint64, is64 bool) {
	switch v := c.u32(); {
	case v == 0xffffffff:
		return c.u64(), true
	case v >= 0xfffffff0:
		c.fail("reserved length %#x", v)
		return 0, false
	default:
		return uint64(v), false
	}
}

// uleb reads an unsigned LEB128.
func (c *cursor) uleb() (v uint64) {
	if c.off < len(c.data) {
		if v = uint64(c.data[c.off]); v < 0x80 {
			c.off++
			return v
		}
	}
	return c.longULEB()
}

func (c *cursor) longULEB() uint64 {
	v, n, err := leb128.Uint(c.data[c.off:])
	if c.off += n; err != nil {
		c.failLEB(err)
	}
	return v
}

func (c *cursor) sleb() int64 {
	v, n, err := leb128.Int(c.data[c.off:])
	if c.off += n; err != nil {
		c.failLEB(err)
	}
	return v
}

func (c *cursor) failLEB(err error) {
	if err == leb128.ErrTruncated {
		c.short(1)
	}
	c.fail("%v", err)
}

// skipString passes a NUL-terminated string.
func (c *cursor) skipString() {
	i := bytes.IndexByte(c.data[c.off:], 0)
	if i < 0 {
		c.fail("string without end")
		return
	}
	c.off += i + 1
}
