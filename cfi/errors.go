// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import (
	"errors"
	"fmt"
)

// The kinds of faults in call frame information. An [*Error] wraps one of them, which
// [errors.Is] finds.
var (
	ErrTruncated    = errors.New("truncated")
	ErrCIE          = errors.New("invalid CIE")
	ErrFDE          = errors.New("invalid FDE")
	ErrVersion      = errors.New("unknown CIE version")
	ErrAugmentation = errors.New("unknown augmentation")
	ErrEncoding     = errors.New("invalid pointer encoding")
	ErrLEB128       = errors.New("invalid LEB128")
	ErrInstruction  = errors.New("invalid instruction")
	ErrExpression   = errors.New("invalid expression")
	ErrHeader       = errors.New("invalid .eh_frame_hdr")
	// ErrRelocation means that an entry has bytes to which a relocation was not applied:
	// see [Section].Unrelocated.
	ErrRelocation = errors.New("relocation not applied")

	// ErrRange means that a value cannot be written: it does not fit its field, or it is
	// not a multiple of its factor.
	ErrRange = errors.New("value out of range")

	// ErrUse means that a table is described in a way that no table has: a call or a field
	// that does not fit the machine, the CIE or an earlier call or another field.
	ErrUse = errors.New("invalid use")

	// ErrNoFDE means that no entry covers an address.
	ErrNoFDE = errors.New("no FDE")
)

// Error is a fault in a section, with its place.
type Error struct {
	Section string // ".eh_frame"
	Offset  uint64 // of the byte at fault, from the start of the section
	Err     error  // what was found and what was expected; wraps one of the kinds above
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s+%#x: %v", e.Section, e.Offset, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
