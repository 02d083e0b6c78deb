// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import "errors"

// ErrNoRegister says that there is no register of a name.
var ErrNoRegister = errors.New("no such register")

// Name is a general register's name, its place in General, its size in gdb's
// eyes, and its DWARF column, -1 where it has none.
type Name struct {
	Name   string
	Offset uintptr
	Size   int // bytes
	Column int
}

// Class is the group that a register belongs to.
type Class uint8

const (
	FloatClass Class = 1 + iota // x87
	VectorClass
)

// VectorName is a register that is not a general one.
type VectorName struct {
	Name   string
	Size   int // bytes
	Column int // DWARF column, -1 where it has none
	Class  Class

	offset int // in what the kernel gives, bytes
}
