// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"bytes"
	"encoding/binary"
)

// cursor reads the rest of a record or section. A read beyond the end fails: it and all
// later ones return zero.
type cursor struct {
	b      []byte
	big    bool // byte order
	failed bool
}

func (c *cursor) fail() {
	c.b, c.failed = nil, true
}

func (c *cursor) u16() uint16 {
	b := c.bytes(2)
	if b == nil {
		return 0
	}
	if c.big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (c *cursor) u32() uint32 {
	if len(c.b) < 4 {
		c.fail()
		return 0
	}
	b := c.b
	c.b = b[4:]
	if c.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (c *cursor) u64() uint64 {
	if len(c.b) < 8 {
		c.fail()
		return 0
	}
	b := c.b
	c.b = b[8:]
	if c.big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// bytes returns the next n bytes, which belong to the record.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.fail()
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// skip skips n bytes, or the rest if it is shorter.
func (c *cursor) skip(n uint64) {
	c.b = c.b[min(n, uint64(len(c.b))):]
}

// entries skips n entries of some words of 64 bits each.
func (c *cursor) entries(n uint64, words int) {
	size := 8 * uint64(words)
	if size > 0 && n > uint64(len(c.b))/size {
		c.fail()
		return
	}
	c.b = c.b[n*size:]
}

// words appends n words of 64 bits to dst.
func (c *cursor) words(dst []uint64, n uint64) []uint64 {
	if n > uint64(len(c.b))/8 {
		c.fail()
		return dst
	}
	b := c.b[:8*n]
	c.b = c.b[8*n:]
	if c.big {
		for ; len(b) >= 8; b = b[8:] {
			dst = append(dst, binary.BigEndian.Uint64(b))
		}
		return dst
	}
	for ; len(b) >= 8; b = b[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(b))
	}
	return dst
}

// text returns the bytes before the first zero byte, or the rest if there is none. It
// skips the rest.
func (c *cursor) text() []byte {
	b := c.b
	c.b = nil
	return untilZero(b)
}

// str reads struct perf_header_string: a length, and text that is padded with
// zero bytes.
func (c *cursor) str() string {
	return string(untilZero(c.bytes(uint64(c.u32()))))
}

func untilZero(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}
