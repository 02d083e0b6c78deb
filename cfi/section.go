// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/internal/leb128"
)

// Kind is one of the two layouts of call frame information.
type Kind uint8

const (
	EHFrame    Kind = iota // .eh_frame: LSB Core, "DWARF Extensions"
	DebugFrame             // .debug_frame: DWARF 5 §6.4
)

// Section is a section of call frame information. Its fields must be set before its first
// use and not be changed later; its methods may then be called concurrently. Data is not
// copied and must not be changed.
type Section struct {
	Name    string // for errors, ".eh_frame"
	Kind    Kind
	Data    []byte        // uncompressed, relocated
	Address uint64        // of Data[0], without load bias
	Machine *arch.Machine // byte order, width of an address, register names

	// TextBase and DataBase are the bases of DW_EH_PE_textrel and DW_EH_PE_datarel pointers:
	// the addresses of .text and of the global offset table.
	TextBase, DataBase uint64

	// Memory resolves DW_EH_PE_indirect pointers to the start of a function, at addresses
	// without load bias. If it is nil, such pointers are an error.
	Memory Memory

	// Unrelocated are the offsets in Data, ascending, at which a relocation was not applied.
	// An entry that contains one is an error.
	Unrelocated []uint64

	mu   sync.RWMutex
	cies map[uint64]knownCIE
}

// Memory is the memory of a process or file.
type Memory interface {
	// ReadMemory fills p with the bytes at addr. If not all of them can be read, it
	// returns an error, and p is undefined. It does not keep p.
	ReadMemory(p []byte, addr uint64) error
}

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
