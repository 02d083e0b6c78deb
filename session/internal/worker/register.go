// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import "errors"

// ErrNoRegister means that there is no register with the name.
var ErrNoRegister = errors.New("no such register")

// Name describes a general register.
type Name struct {
	Name   string
	Offset uintptr // in General
	Size   int     // bytes, as gdb has it
	Column int     // DWARF column, or -1
}

// Class is the group that a register belongs to.
type Class uint8

const (
	FloatClass Class = 1 + iota // x87
	VectorClass
)

// VectorName describes a register that is not a general one.
type VectorName struct {
	Name   string
	Size   int // bytes
	Column int // DWARF column, or -1
	Class  Class

	offset int // in the kernel's data, bytes
}
