// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"slices"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/object"
)

// Code is a place in code, with its names. The frames of live stacks, of cores and of
// recordings have one each.
type Code struct {
	Object  *Object // that contains the place; nil if none is known
	Address uint64  // without the object's load bias; a run-time address without an object

	// Returns is set for the callers of a recorded call chain: Address is the return
	// address. Otherwise, the Address of a caller is the address of the last byte of the
	// call.
	Returns bool

	Symbol    object.Symbol     // its name is empty if there is none
	Locations []object.Location // innermost inlined call first, the function itself last
}

// LookupAddress returns the address of a byte of the instruction at the place.
func (c *Code) LookupAddress() uint64 {
	if c.Returns {
		return c.Address - 1
	}
	return c.Address
}

// Offset returns the offset of the address in the symbol, in bytes. It returns false if
// there is no symbol.
func (c *Code) Offset() (uint64, bool) {
	if c.Symbol.Name == "" {
		return 0, false
	}
	return c.Address - c.Symbol.Address, true
}

// Location returns the place of the function in the source, apart from inlined calls. It
// is nil if that is unknown.
func (c *Code) Location() *object.Location {
	if n := len(c.Locations); n > 0 {
		return &c.Locations[n-1]
	}
	return nil
}

// NameLimit bounds the names of many frames: Count counts the names of each frame, then
// Shorten cuts them. Names of more than 16 KiB are cut. Where all names take more than 32
// MiB, names of more than 256 bytes are cut too. A cut name ends in "…".
type NameLimit struct {
	bytes int // of all names, each cut to 16 KiB
}

// Count counts the names of a frame.
func (l *NameLimit) Count(c *Code) {
	l.bytes += min(len(c.Symbol.Name), printable.MaxName)
	for i := range c.Locations {
		at := &c.Locations[i]
		l.bytes += min(len(at.Function), printable.MaxName) + min(len(at.File), printable.MaxName)
	}
}

// Shorten cuts names that are too long. It replaces the list of locations, and does not
// change the old one, which others can share.
func (l *NameLimit) Shorten(c *Code) {
	most := printable.MaxName
	if l.bytes > printable.MaxAllNames {
		most = printable.MaxShortName
	}
	c.Symbol.Name = printable.Shortened(c.Symbol.Name, most)
	copied := false
	for i := range c.Locations {
		if at := &c.Locations[i]; len(at.Function) <= most && len(at.File) <= most {
			continue
		}
		if !copied {
			c.Locations, copied = slices.Clone(c.Locations), true
		}
		at := &c.Locations[i]
		at.Function, at.File = printable.Shortened(at.Function, most), printable.Shortened(at.File, most)
	}
}
