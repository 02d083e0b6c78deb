// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perf

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"github.com/clewdev/clew/internal/leb128"
)

// The kinds of faults of jitdumps and maps, for errors.Is. An *Error wraps one of them.
var (
	// ErrTruncated means that the data ends too early: the file is still being written,
	// or was truncated.
	ErrTruncated = errors.New("truncated")
	ErrHeader    = errors.New("not a jitdump")
	ErrRecord    = errors.New("invalid jitdump record")
	ErrMap       = errors.New("invalid line of a perf map")

	// ErrTooLarge means that the file exceeds a limit.
	ErrTooLarge = errors.New("too large")
)

// Error is a fault in a file, with its place.
type Error struct {
	File   string
	Offset uint64 // of the byte at fault, from the start of the file
	Err    error  // what was found and what was expected; wraps one of the kinds above
}

func (e *Error) Error() string { return fmt.Sprintf("%s+%#x: %v", e.File, e.Offset, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// cursor reads a piece of a jitdump front to back.
type cursor struct{ leb128.Cursor }

// faults makes the errors of a dump's cursors.
type faults Jitdump

// Fault implements leb128.Source.
func (d *faults) Fault(offset uint64, err error) error {
	if short, ok := err.(*leb128.Short); ok {
		err = fmt.Errorf("%w: %d bytes are left of the record, expected %d", ErrRecord, short.Left, short.Expected)
	}
	return &Error{d.name, offset, err}
}

func (c *cursor) fail(at uint64, kind error, format string, args ...any) {
	c.FailAt(at, fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...)))
}

func (c *cursor) uint32() uint32 { return uint32(c.Uint(4)) }

func (c *cursor) uint64() uint64 { return c.Uint(8) }

// string returns the bytes up to the next NUL, as a string that aliases the data.
func (c *cursor) string() string {
	data := c.Data[c.Off:c.End]
	i := bytes.IndexByte(data, 0)
	if i < 0 {
		c.fail(c.Off, ErrRecord, "a string without a NUL in %d bytes", len(data))
		return ""
	}
	c.Off += uint64(i) + 1
	return alias(data[:i])
}

// alias returns a string that shares memory with b, which is never changed. Most names of a
// large dump are never used.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
