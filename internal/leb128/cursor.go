// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package leb128

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Cursor reads numbers of fixed size and LEB128s from front to back. Its first error
// sticks: later reads return zero, so that the caller checks Err once, at the end. No read
// goes past End.
type Cursor struct {
	Data   []byte
	Off    uint64 // of the next byte; at most End
	End    uint64 // at most len(Data)
	Big    bool   // byte order
	Err    error
	Source Source // nil: errors do not name a source
}

// Source is the source of a cursor's data, for its errors.
type Source interface {
	// Fault returns the error for err at an offset of Data: for a *Short, an error of Uint
	// or Int, or one that the caller passed to Fail.
	Fault(offset uint64, err error) error
}

// Short is the error of a read past the end.
type Short struct {
	Left, Expected uint64 // bytes
}

func (s *Short) Error() string {
	return fmt.Sprintf("%d bytes are left, expected %d", s.Left, s.Expected)
}

// Fail ends the reading with an error, unless there was one before.
func (c *Cursor) Fail(err error) { c.FailAt(c.Off, err) }

// FailAt is Fail for an error at an offset.
func (c *Cursor) FailAt(offset uint64, err error) {
	if c.Err == nil {
		if c.Err = err; c.Source != nil {
			c.Err = c.Source.Fault(offset, err)
		}
	}
	c.Off = c.End
}

// short fails because of missing bytes. It is not inlined, to keep the other methods small.
//
//go:noinline
func (c *Cursor) short(expected uint64) { c.Fail(&Short{c.End - c.Off, expected}) }

// Bytes returns the next n bytes, a view of Data, or nil after an error.
func (c *Cursor) Bytes(n uint64) []byte {
	if n > c.End-c.Off {
		c.short(n)
		return nil
	}
	b := c.Data[c.Off : c.Off+n : c.Off+n]
	c.Off += n
	return b
}

// Uint8 reads a byte.
func (c *Cursor) Uint8() uint8 {
	if c.Off >= c.End {
		c.short(1)
		return 0
	}
	b := c.Data[c.Off]
	c.Off++
	return b
}

// Uint16 reads a number of two bytes.
func (c *Cursor) Uint16() uint16 {
	b := c.Data[c.Off:c.End]
	if len(b) < 2 {
		c.short(2)
		return 0
	}
	c.Off += 2
	v := binary.LittleEndian.Uint16(b)
	if c.Big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// Uint32 reads a number of four bytes.
func (c *Cursor) Uint32() uint32 {
	b := c.Data[c.Off:c.End]
	if len(b) < 4 {
		c.short(4)
		return 0
	}
	c.Off += 4
	v := binary.LittleEndian.Uint32(b)
	if c.Big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// Uint64 reads a number of eight bytes.
func (c *Cursor) Uint64() uint64 {
	b := c.Data[c.Off:c.End]
	if len(b) < 8 {
		c.short(8)
		return 0
	}
	c.Off += 8
	v := binary.LittleEndian.Uint64(b)
	if c.Big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// Uint reads an unsigned number of 1, 2, 4 or 8 bytes.
func (c *Cursor) Uint(size int) uint64 {
	b := c.Bytes(uint64(size))
	switch {
	case len(b) == 4 && !c.Big:
		return uint64(binary.LittleEndian.Uint32(b))
	case c.Big:
		return uintOf(binary.BigEndian, b)
	}
	return uintOf(binary.LittleEndian, b)
}

// Int reads a signed number of 1, 2, 4 or 8 bytes.
func (c *Cursor) Int(size int) int64 {
	shift := 64 - 8*uint(size)
	return int64(c.Uint(size)<<shift) >> shift
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

// ULEB128 reads an unsigned LEB128.
func (c *Cursor) ULEB128() uint64 {
	if c.Off < c.End {
		if b := c.Data[c.Off]; b < 0x80 {
			c.Off++
			return uint64(b)
		}
	}
	v, n, err := Uint(c.Data[c.Off:c.End])
	c.pass(n, err)
	return v
}

// SLEB128 reads a signed LEB128.
func (c *Cursor) SLEB128() int64 {
	v, n, err := Int(c.Data[c.Off:c.End])
	c.pass(n, err)
	return v
}

// pass skips the n bytes of a LEB128. An error is reported at the byte after them.
func (c *Cursor) pass(n int, err error) {
	if c.Off += uint64(n); err != nil {
		c.Fail(err)
	}
}
