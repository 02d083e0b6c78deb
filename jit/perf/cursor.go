// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// The kinds of faults that jitdumps and maps have. An *Error wraps one of them;
// errors.Is tells them apart.
var (
	// ErrTruncated says that the data ends too early: it is being written still,
	// or was cut off.
	ErrTruncated = errors.New("truncated")
	ErrHeader    = errors.New("no jitdump")
	ErrRecord    = errors.New("bad jitdump record")
	ErrMap       = errors.New("bad line of a perf map")

	// ErrTooLarge says that more was written than is read.
	ErrTooLarge = errors.New("too large")
)

// Error says where in a file what was found amiss.
type Error struct {
	File   string
	Offset uint64 // of the byte at fault, from the start of the file
	Err    error  // what was found and what was expected; wraps one of the kinds above
}

func (e *Error) Error() string { return fmt.Sprintf("%s+%#x: %v", e.File, e.Offset, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// cursor reads a piece of a jitdump front to back. Its error is sticky: reads
// after an error return zero, and the caller looks at err once, at the end.
type cursor struct {
	file  string
	data  []byte // the whole file
	off   uint64 // of the next byte
	end   uint64 // of the piece; at most len(data)
	order binary.ByteOrder
	err   error
}

func (c *cursor) fail(at uint64, kind error, format string, args ...any) {
	if c.err == nil {
		c.err = &Error{c.file, at, fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))}
	}
	c.off = c.end
}

// bytes returns the next n bytes, which alias the file's data.
func (c *cursor) bytes(n uint64) []byte {
	if n > c.end-c.off {
		c.fail(c.off, ErrRecord, "%d bytes are left of the record, expected %d", c.end-c.off, n)
		return nil
	}
	b := c.data[c.off : c.off+n : c.off+n]
	c.off += n
	return b
}

func (c *cursor) uint32() uint32 {
	if b := c.bytes(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.bytes(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// string returns the bytes up to the next NUL, as a string that aliases the data.
func (c *cursor) string() string {
	rest := c.data[c.off:c.end]
	i := bytes.IndexByte(rest, 0)
	if i < 0 {
		c.fail(c.off, ErrRecord, "a string without its NUL in %d bytes", len(rest))
		return ""
	}
	c.off += uint64(i) + 1
	return alias(rest[:i])
}

// alias returns a string that shares memory with b, which is never changed: a
// dump of a hundred thousand functions has more names than are looked at.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
