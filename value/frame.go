// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/value/internal/entry"
)

// Frame is the frame in which variables are read. Its state must not change while it is used.
// Values that were read in it keep it, to read memory.
//
// Inlined calls have no Frame of their own: use the Frame of the function into which they were
// inlined.
type Frame interface {
	cfi.Frame // ReadMemory at run-time addresses, Register by DWARF column

	// RegisterBytes returns a whole register in the machine's byte order (the 16 bytes of
	// xmm0), or false if it is not known. It may always return false for general registers:
	// Register is called then. The caller owns the slice.
	RegisterBytes(column uint64) ([]byte, bool)

	// ProgramCounter returns the address at which the frame continues, and the address that
	// determines its function and scope: the same, or the byte before a return address (PC and
	// LookupPC of unwind.Frame). Both are run-time addresses.
	ProgramCounter() (pc, lookup uint64)

	// CFA returns the canonical frame address, or false if it is not known.
	CFA() (uint64, bool)

	// Info returns the debugging information of the object that contains the lookup address, or
	// nil. Bias returns the run-time addresses minus the addresses of the object's file.
	Info() *Info
	Bias() uint64

	// Caller returns the frame that called this one, or nil if it is not known. Values at the
	// entry of a function are computed in it.
	Caller() Frame
}

// ThreadStorage is implemented by a Frame that knows the thread-local storage of its thread.
type ThreadStorage interface {
	// ThreadAddress returns the run-time address of the byte at an offset of the thread-local
	// storage of the frame's object.
	ThreadAddress(offset uint64) (uint64, error)
}

// Writer changes a stopped program. A Frame that can be changed implements it too.
type Writer interface {
	// WriteMemory writes all of p at a run-time address.
	WriteMemory(p []byte, addr uint64) error
	// SetRegisterBytes sets the low len(p) bytes of a register of the frame, and leaves the
	// higher ones unchanged. p has the machine's byte order.
	SetRegisterBytes(column uint64, p []byte) error
}

// static is a Frame without registers.
type static struct {
	cfi.Memory
	info *Info
	bias uint64
}

// Static returns a Frame without registers, for the variables of an object that have addresses
// and for values in memory. info may be nil. bias is added to its addresses.
func Static(memory cfi.Memory, info *Info, bias uint64) Frame {
	return &static{memory, info, bias}
}

func (s *static) Register(uint64) (uint64, bool)      { return 0, false }
func (s *static) RegisterBytes(uint64) ([]byte, bool) { return nil, false }
func (s *static) ProgramCounter() (pc, lookup uint64) { return 0, 0 }
func (s *static) CFA() (uint64, bool)                 { return 0, false }
func (s *static) Info() *Info                         { return s.info }
func (s *static) Bias() uint64                        { return s.bias }
func (s *static) Caller() Frame                       { return nil }

var (
	// ErrNoInfo means that an object has no debugging information.
	ErrNoInfo = errors.New("no debugging information")
	// ErrNotFound means that a name or an address is not in the debugging information.
	ErrNotFound = errors.New("not found")
	// ErrOptimizedOut means that a value is not stored at this point of the program.
	ErrOptimizedOut = errors.New("value has been optimized out")
	// ErrNoAddress means that a value is not in memory.
	ErrNoAddress = errors.New("value is not located in memory")
	// ErrType means that an operation is not defined for the type of its operand.
	ErrType = errors.New("type mismatch")
	// ErrTooLarge means that a value is larger than MaxSize.
	ErrTooLarge = errors.New("value is too large")
	// ErrExpression means that a location cannot be evaluated.
	ErrExpression = errors.New("invalid location expression")
	// ErrNotAllocated means that an allocatable array of Fortran has no memory.
	ErrNotAllocated = errors.New("not allocated")
	// ErrNotAssociated means that an array pointer of Fortran is null.
	ErrNotAssociated = errors.New("not associated")
	// ErrDebugInfo means that debugging information is invalid.
	ErrDebugInfo = entry.ErrDamaged
)

// MemoryError means that memory cannot be read.
type MemoryError struct {
	Address uint64 // run-time, of the first byte to read
	Err     error  // from the Frame
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("cannot access memory at address %#x", e.Address)
}

func (e *MemoryError) Unwrap() error { return e.Err }
