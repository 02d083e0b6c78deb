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
