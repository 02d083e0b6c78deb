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

// Frame is the frame that variables are read in. It stands still while it is
// used. The values that were read in it keep it, to read memory.
//
// Inlined calls have no frame of their own: they are read in that of the
// function they were inlined in.
type Frame interface {
	cfi.Frame // ReadMemory at run-time addresses, Register by DWARF column

	// RegisterBytes returns a whole register in the machine's byte order (the
	// 16 bytes of xmm0), and false where it is not known. For general
	// registers it may return false always: Register is asked then. The slice
	// is the caller's.
	RegisterBytes(column uint64) ([]byte, bool)

	// ProgramCounter returns where the frame goes on, and the address that determines
	// where it is: the same, or the byte before it where a call is to return
	// (PC and LookupPC of unwind.Frame). Both are run-time addresses.
	ProgramCounter() (pc, lookup uint64)

	// CFA returns the canonical frame address, and false where it is not known.
	CFA() (uint64, bool)

	// Info is the debugging information of the object that the lookup address
	// lies in, nil where it has none, and Bias what to add to the addresses in
	// it to get run-time addresses.
	Info() *Info
	Bias() uint64

	// Caller returns the frame that called this one, nil where it is not known.
	// Values at the entry of a function are computed in it.
	Caller() Frame
}

// ThreadStorage is what a Frame implements where it knows its thread's storage.
type ThreadStorage interface {
	// ThreadAddress returns the run-time address that the byte at an offset of
	// the thread-local storage of the frame's object has for the frame's thread.
	ThreadAddress(offset uint64) (uint64, error)
}

// Writer changes what was stopped. Frames that can be changed implement it too.
type Writer interface {
	// WriteMemory writes all of p at a run-time address.
	WriteMemory(p []byte, addr uint64) error
	// SetRegisterBytes sets the low len(p) bytes of a register of the frame, and
	// leaves those above as they are; p has the machine's byte order.
	SetRegisterBytes(column uint64, p []byte) error
}

// static is a place without a frame.
type static struct {
	cfi.Memory
	info *Info
	bias uint64
}

// Static returns a Frame without registers, for the variables of an object that
// have addresses, and for values in memory. The info may be nil; bias is what
// to add to its addresses.
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
	ErrExpression = errors.New("invalid location expression")
	// ErrNotAllocated says that an allocatable array of Fortran has no memory.
	ErrNotAllocated = errors.New("not allocated")
	// ErrNotAssociated says that an array pointer of Fortran leads nowhere.
	ErrNotAssociated = errors.New("not associated")
	// ErrDebugInfo says that debugging information is damaged.
	ErrDebugInfo = entry.ErrDamaged
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
