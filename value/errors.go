// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"errors"
	"fmt"
)

var (
	// ErrNoInfo says that an object has no debugging information.
	ErrNoInfo = errors.New("no debugging information")
	// ErrNotFound says that nothing has a name, or covers an address.
	ErrNotFound = errors.New("not found")
	// ErrOptimizedOut says that the compiler left no trace of a value here.
	ErrOptimizedOut = errors.New("value has been optimized out")
	// ErrNoAddress says that a value does not lie in memory.
	ErrNoAddress = errors.New("value is not located in memory")
	// ErrType says that an operation does not fit the type of its operand.
	ErrType = errors.New("type mismatch")
	// ErrTooLarge says that a value is larger than MaxSize.
	ErrTooLarge = errors.New("value is too large")
	// ErrExpression says that a location cannot be evaluated.
	ErrExpression = errors.New("bad location expression")
	// ErrNotAllocated says that an allocatable array of Fortran has no memory.
	ErrNotAllocated = errors.New("not allocated")
	// ErrNotAssociated says that an array pointer of Fortran leads nowhere.
	ErrNotAssociated = errors.New("not associated")
	// ErrDebugInfo says that debugging information is damaged.
	ErrDebugInfo = errors.New("bad debugging information")
)

// MemoryError says that memory cannot be read.
type MemoryError struct {
	Address uint64 // run-time, of the first byte that was asked for
	Err     error  // what the Frame said
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("cannot access memory at address %#x", e.Address)
}

func (e *MemoryError) Unwrap() error { return e.Err }
