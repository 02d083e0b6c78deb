// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/clewdev/clew/internal/leb128"
)

// cursor reads one entry of a section front to back.
type cursor struct {
	leb128.Cursor
	s     *Section
	width int // bytes of an address
}

// cursor returns a cursor over the bytes [offset, end) of the section.
func (s *Section) cursor(offset, end uint64) cursor {
	return cursor{
		Cursor: leb128.Cursor{Data: s.Data, Off: offset, End: end, Big: s.Machine.Order == binary.BigEndian, Source: (*faults)(s)},
		s:      s, width: s.Machine.AddressSize,
	}
}

// faults creates the errors of a section's cursors.
type faults Section

// Fault implements leb128.Source.
func (s *faults) Fault(offset uint64, err error) error {
	switch short, ok := err.(*leb128.Short); {
	case ok && short.Left == 0 && short.Expected == 1, err == leb128.ErrTruncated:
		err = fmt.Errorf("%w: no byte is left, expected 1", ErrTruncated)
	case ok:
		err = fmt.Errorf("%w: %w", ErrTruncated, err)
	case errors.Is(err, leb128.ErrUnsigned), errors.Is(err, leb128.ErrSigned), errors.Is(err, leb128.ErrTooLong):
		err = fmt.Errorf("%w: %w", ErrLEB128, err)
	}
	return &Error{s.Name, offset, err}
}

func (c *cursor) fail(kind error, format string, args ...any) {
	if c.Err == nil {
		c.Fail(fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...)))
	}
	c.Off = c.End
}

// uintOf returns the number of 1, 2, 4 or 8 bytes.
func uintOf(order binary.ByteOrder, b []byte) uint64 {
	c := leb128.Cursor{Data: b, End: uint64(len(b)), Big: order == binary.BigEndian}
	return c.Uint(len(b))
}

// string reads a string of at most limit bytes up to its NUL.
func (c *cursor) string(limit int) string {
	b := c.Data[c.Off:c.End]
	if len(b) > limit {
		b = b[:limit+1]
	}
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		c.fail(ErrTruncated, "a string without a NUL in %d bytes", len(b))
		return ""
	}
	c.Off += uint64(n) + 1
	return string(b[:n])
}
