// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dwarf

import (
	"bytes"
	"fmt"

	"github.com/clewdev/clew/internal/leb128"
)

// cursor reads a section.
type cursor struct{ leb128.Cursor }

// section returns the section that the cursor reads.
func (c *cursor) section() sectionName { return c.Source.(sectionName) }

// sectionName is the name of a section. It is a number because millions of cursors are
// made, and each would allocate a string.
type sectionName uint8

const (
	debugAbbrev sectionName = iota
	debugAddr
	debugAranges
	debugCUIndex
	debugInfo
	debugLine
	debugLineStr
	debugRanges
	debugRngLists
	debugStr
	debugStrOffsets
	debugTUIndex
	debugTypes

	inSplit sectionName = 1 << 7 // in a file with split units: the name ends in ".dwo"
)

var sectionNames = [...]string{".debug_abbrev", ".debug_addr", ".debug_aranges", ".debug_cu_index", ".debug_info", ".debug_line",
	".debug_line_str", ".debug_ranges", ".debug_rnglists", ".debug_str", ".debug_str_offsets", ".debug_tu_index", ".debug_types"}

func (n sectionName) String() string {
	name := sectionNames[n&^inSplit]
	if n&inSplit != 0 {
		name += ".dwo"
	}
	return name
}

// Fault implements leb128.Source.
func (n sectionName) Fault(offset uint64, err error) error {
	return fmt.Errorf("%v at %#x: %w", n, offset, err)
}

func newCursor(section sectionName, data []byte, big bool) cursor {
	return cursor{leb128.Cursor{Data: data, End: uint64(len(data)), Big: big, Source: section}}
}

func (c *cursor) fail(format string, args ...any) { c.Fail(fmt.Errorf(format, args...)) }

func (c *cursor) remain() int { return int(c.End - c.Off) }

func (c *cursor) u24() uint32 {
	b := c.Bytes(3)
	if b == nil {
		return 0
	}
	if c.Big {
		return uint32(b[2]) | uint32(b[1])<<8 | uint32(b[0])<<16
	}
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
}

// sized reads an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) sized(n int) uint64 {
	switch n {
	case 1:
		return uint64(c.Uint8())
	case 2:
		return uint64(c.Uint16())
	case 4:
		return uint64(c.Uint32())
	case 8:
		return c.Uint64()
	}
	c.fail("numbers of %d bytes", n)
	return 0
}

// offset reads a section offset of the 32-bit or the 64-bit format.
func (c *cursor) offset(is64 bool) uint64 {
	if is64 {
		return c.Uint64()
	}
	return uint64(c.Uint32())
}

// length reads an initial length (DWARF 5 §7.4).
func (c *cursor) length() (n uint64, is64 bool) {
	switch v := c.Uint32(); {
	case v == 0xffffffff:
		return c.Uint64(), true
	case v >= 0xfffffff0:
		c.fail("reserved length %#x", v)
		return 0, false
	default:
		return uint64(v), false
	}
}

// skipString skips a NUL-terminated string.
func (c *cursor) skipString() {
	i := bytes.IndexByte(c.Data[c.Off:c.End], 0)
	if i < 0 {
		c.fail("string without end")
		return
	}
	c.Off += uint64(i) + 1
}
