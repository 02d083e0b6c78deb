// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/value/internal/entry"
	"github.com/clewdev/clew/value/internal/number"
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

// SelfCaller is implemented by a Frame that knows the tail calls between files. CallsItself reports
// whether its function reaches itself through tail calls: Caller need not have passed its parameters.
type SelfCaller interface{ CallsItself() bool }

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

func (v Value) readMemory(b []byte, address uint64) error {
	if len(b) == 0 {
		return nil
	}
	if v.frame == nil {
		return &MemoryError{address, ErrNoAddress}
	}
	if err := v.frame.ReadMemory(b, address); err != nil {
		return &MemoryError{address, err}
	}
	return nil
}

// gather reads size bits of the pieces, from bit at on, into b. It sets the bits of missing
// that are optimized out. If missing is nil, it returns ErrOptimizedOut for them.
func (v Value) gather(b, missing []byte, at, size uint64) error {
	done := uint64(0)
	var buffer [8]byte
	for k := range v.pieces {
		p := &v.pieces[k]
		if at >= p.BitSize {
			at -= p.BitSize
			continue
		}
		n := min(p.BitSize-at, size-done)
		src, from, err := v.source(p, at, n, &buffer)
		if err == nil && from+n > 8*uint64(len(src)) {
			err = fmt.Errorf("%w: %d bits at bit %d of %d bytes", ErrExpression, n, from, len(src))
		}
		switch {
		case err == nil:
			number.CopyBits(v.typ.machine, b, done, src, from, n)
		case missing != nil && (errors.Is(err, ErrOptimizedOut) || errors.Is(err, ErrExpression)):
			number.SetBits(missing, done, n)
		default:
			return err
		}
		done += n
		at = 0
		if done == size {
			return nil
		}
	}
	// The pieces are shorter than the value.
	if missing == nil {
		return ErrOptimizedOut
	}
	number.SetBits(missing, done, size-done)
	return nil
}

// contents reads the value. It sets the bits of missing that are optimized out.
func (v Value) contents() (b, missing []byte, err error) {
	size := v.typ.Size()
	if size > MaxSize {
		return nil, nil, ErrTooLarge
	}
	b, missing = make([]byte, size), make([]byte, size)
	width := 8 * size
	if v.bitSize != 0 {
		width = min(v.bitSize, width)
	}
	if err := v.gather(b, missing, v.bitOffset, width); err != nil {
		return nil, nil, err
	}
	return b, missing, v.err
}

// source returns bytes that contain n bits of a piece, from bit at on, and where in the bytes
// they start. Bytes of a register are in buffer.
func (v Value) source(p *Piece, at, n uint64, buffer *[8]byte) (b []byte, from uint64, err error) {
	m := v.typ.machine
	switch p.Kind {
	case InMemory:
		at += p.BitOffset
		read := make([]byte, (at%8+n+7)/8) // this escapes; buffer must not
		return read, at % 8, v.readMemory(read, p.Address+at/8)
	case InRegister:
		if b, err = v.registerBytes(p, buffer); err != nil {
			return nil, 0, err
		}
		return b, p.lowStart(m, uint64(len(b))) + at, nil
	case InBytes:
		if p.number {
			return p.Bytes, p.lowStart(m, uint64(len(p.Bytes))) + at, nil
		}
		return p.Bytes, p.BitOffset + at, nil
	}
	return nil, 0, ErrOptimizedOut
}

// lowStart returns where a piece starts in a number of size bytes. The piece is the least
// significant part of the number.
func (p *Piece) lowStart(m *arch.Machine, size uint64) uint64 {
	if number.IsBigEndian(m) && 8*size >= p.BitSize+p.BitOffset {
		return 8*size - p.BitSize - p.BitOffset
	}
	return p.BitOffset
}

func (v Value) registerBytes(p *Piece, buffer *[8]byte) ([]byte, error) {
	if v.frame == nil {
		return nil, errUnknownInFrame
	}
	if b, ok := v.frame.RegisterBytes(p.Column); ok {
		return b, nil
	}
	n, ok := v.frame.Register(p.Column)
	if !ok {
		return nil, errUnknownInFrame
	}
	m := v.typ.machine
	number.PutUint(m.Order, buffer[:], registerValue(m, p.Column, n, p.BitSize, v.typ.Strip().kind == Float))
	return buffer[:], nil
}

// SameBits reports whether two values can be read, have equal bits, and are optimized out in
// the same parts.
func (v Value) SameBits(u Value) bool {
	a, missingA, errA := v.contents()
	b, missingB, errB := u.contents()
	return errA == nil && errB == nil && bytes.Equal(a, b) && bytes.Equal(missingA, missingB)
}

// registerValue returns the value of a number of bits in a register that contains n. Nearly
// all registers have it in their least significant bits.
func registerValue(m *arch.Machine, column, n, bits uint64, isFloat bool) uint64 {
	f := m.FloatRegisters
	switch {
	case f == nil || bits >= 64 || column < f.First || column > f.Last:
	case f.HighBits:
		n >>= 64 - bits
	case f.Doubles && isFloat && bits == 32:
		n = uint64(math.Float32bits(float32(math.Float64frombits(n))))
	}
	return n
}

// ReadError returns why a value cannot be shown. It is nil for a value that can be shown,
// or whose state, such as "optimized out", is shown in its place.
func (v Value) ReadError() error {
	_, err := v.Frozen()
	if IsState(err) {
		return nil
	}
	return err
}

// IsState reports whether an error is the state of a value, which is shown in its place:
// optimized out, not allocated or not associated.
func IsState(err error) bool {
	return errors.Is(err, ErrOptimizedOut) || errors.Is(err, ErrNotAllocated) || errors.Is(err, ErrNotAssociated)
}

// snapshot is a frame with a copy of some of its memory.
type snapshot struct {
	Frame
	start uint64
	bytes []byte
}

func (s *snapshot) ReadMemory(p []byte, address uint64) error {
	if at := address - s.start; at < uint64(len(s.bytes)) && uint64(len(p)) <= uint64(len(s.bytes))-at {
		copy(p, s.bytes[at:])
		return nil
	}
	return s.Frame.ReadMemory(p, address)
}

func (s *snapshot) ThreadAddress(offset uint64) (uint64, error) {
	if storage, ok := s.Frame.(ThreadStorage); ok {
		return storage.ThreadAddress(offset)
	}
	return 0, errNoThreadStorage
}

// Frozen returns the value with a copy of its memory, from which its parts are read. The copy
// is made now. A value that is too large is not copied if its parts can be read.
func (v Value) Frozen() (Value, error) {
	if err := v.Err(); err != nil {
		if v.isReadInParts() {
			err = nil
		}
		return v, err
	}
	address, ok := v.Address()
	_, isFrozen := v.frame.(*snapshot)
	if !ok || v.frame == nil || isFrozen || v.typ.Strip().kind == Func || v.typ.isSpread() {
		return v, nil
	}
	b, err := v.Bytes()
	if err != nil {
		return v, err
	}
	v.frame = &snapshot{v.frame, address, b}
	return v, nil
}

// isReadInParts reports whether a value is too large to be read as a whole, but its parts can
// be read.
func (v Value) isReadInParts() bool {
	if v.err != nil || v.typ == nil || v.typ.Size() <= MaxSize {
		return false
	}
	switch v.typ.Strip().kind {
	case Struct, Class, Union:
		_, ok := v.Address()
		return ok
	}
	_, ok := v.Beginning()
	return ok
}

// Beginning returns the first elements of an array in memory that is too large to be read as
// a whole: as many as can be read. It returns false for other values.
func (v Value) Beginning() (Value, bool) {
	if v.err != nil || v.typ == nil || v.typ.Size() <= MaxSize {
		return Value{}, false
	}
	t := v.typ.Strip()
	size := t.Elem().Size()
	if _, ok := v.Address(); !ok || t.kind != Array || size == 0 || t.Size()/size > 1<<32 {
		return Value{}, false // no array is that large
	}
	short := ArrayIn(t.language, t.Elem(), max(1, MaxSize/size))
	short.lower, short.stride, short.vector, short.index = t.lower, t.stride, t.vector, t.index
	return v.part(short, 0), true
}

// element returns element i of an array, counted from 0.
func (v Value) element(t *Type, i uint64) Value { return v.Index(int64(i) + t.lower) }
