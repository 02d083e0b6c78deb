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
	"github.com/clewdev/clew/value/internal/number"
)

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

// gather reads size bits of the pieces to b.
func (v Value) gather(b []byte, at, size uint64) error {
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
		if err != nil {
			return err
		}
		if from+n > 8*uint64(len(src)) {
			return fmt.Errorf("%w: %d bits at bit %d of %d bytes", ErrExpression, n, from, len(src))
		}
		number.CopyBits(v.typ.machine, b, done, src, from, n)
		done += n
		at = 0
		if done == size {
			return nil
		}
	}
	// The pieces are shorter than the value: the rest is nowhere.
	return ErrOptimizedOut
}

// contents reads what there is of the value: bits of missing are set where it is
// optimized out.
func (v Value) contents() (b, missing []byte, err error) {
	size := v.typ.Size()
	if size > MaxSize {
		return nil, nil, ErrTooLarge
	}
	b, missing = make([]byte, size), make([]byte, size)
	at, left := v.bitOffset, 8*size
	if v.bitSize != 0 {
		left = min(v.bitSize, left)
	}
	done := uint64(0)
	var buffer [8]byte
	for k := range v.pieces {
		p := &v.pieces[k]
		if at >= p.BitSize {
			at -= p.BitSize
			continue
		}
		n := min(p.BitSize-at, left)
		src, from, err := v.source(p, at, n, &buffer)
		switch {
		case err == nil && from+n <= 8*uint64(len(src)):
			number.CopyBits(v.typ.machine, b, done, src, from, n)
		case err == nil || errors.Is(err, ErrOptimizedOut):
			number.SetBits(missing, done, n)
		default:
			return nil, nil, err
		}
		done, left, at = done+n, left-n, 0
	}
	number.SetBits(missing, done, left)
	return b, missing, v.err
}

// source returns bytes that hold n bits from bit at of a piece on, and where in
// them these start. Those of a register are in buffer.
func (v Value) source(p *Piece, at, n uint64, buffer *[8]byte) (b []byte, from uint64, err error) {
	m := v.typ.machine
	switch p.Kind {
	case InMemory:
		at += p.BitOffset
		read := make([]byte, (at%8+n+7)/8) // it escapes, which buffer must not
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

// lowStart returns where a piece starts in a number of size bytes: the piece is
// its least significant bits.
func (p *Piece) lowStart(m *arch.Machine, size uint64) uint64 {
	if number.IsBigEndian(m) && 8*size >= p.BitSize+p.BitOffset {
		return 8*size - p.BitSize - p.BitOffset
	}
	return p.BitOffset
}

func (v Value) registerBytes(p *Piece, buffer *[8]byte) ([]byte, error) {
	if v.frame == nil {
		return nil, errNotKnown
	}
	if b, ok := v.frame.RegisterBytes(p.Column); ok {
		return b, nil
	}
	n, ok := v.frame.Register(p.Column)
	if !ok {
		return nil, errNotKnown
	}
	m := v.typ.machine
	number.PutUint(m.Order, buffer[:], held(m, p.Column, n, p.BitSize, v.typ.Strip().kind == Float))
	return buffer[:], nil
}

// SameBits reports whether two values can be read, are equal bit by bit, and are optimized
// out in the same parts.
func (v Value) SameBits(u Value) bool {
	a, missingA, errA := v.contents()
	b, missingB, errB := u.contents()
	return errA == nil && errB == nil && bytes.Equal(a, b) && bytes.Equal(missingA, missingB)
}

// held returns the number that a register holds in its eight bytes n for a value of so
// many bits. Nearly all registers have it in their least significant bits.
func held(m *arch.Machine, column, n, bits uint64, isFloat bool) uint64 {
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

// ReadError returns why a value cannot be shown, nil where it can be, or is
// optimized out: what a list of variables has in its place.
func (v Value) ReadError() error {
	_, err := v.Frozen()
	if IsState(err) {
		return nil
	}
	return err
}

// IsState reports whether an error says what has become of a value: it is shown in the
// value's place.
func IsState(err error) bool {
	return errors.Is(err, ErrOptimizedOut) || errors.Is(err, ErrNotAllocated) || errors.Is(err, ErrNotAssociated)
}

// snapshot is a frame in which some memory was read already.
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

// ThreadAddress asks the frame that the snapshot was taken of.
func (s *snapshot) ThreadAddress(offset uint64) (uint64, error) {
	if storage, ok := s.Frame.(ThreadStorage); ok {
		return storage.ThreadAddress(offset)
	}
	return 0, refuse("the frame does not know its thread-local storage")
}

// Frozen returns a value whose parts are read from a copy of its memory, which is read now.
// A value that is too large is not copied if its parts can be read.
func (v Value) Frozen() (Value, error) {
	if err := v.Err(); err != nil {
		if v.isInParts() {
			err = nil
		}
		return v, err
	}
	address, ok := v.Address()
	if !ok || v.frame == nil || v.typ.Strip().kind == Func {
		return v, nil
	}
	if _, done := v.frame.(*snapshot); done {
		return v, nil
	}
	if v.typ.isSpread() {
		return v, nil
	}
	b, err := v.Bytes()
	if err != nil {
		return v, err
	}
	v.frame = &snapshot{v.frame, address, b}
	return v, nil
}

// isInParts reports whether a value is too large to be read as a whole, and its parts are
// not.
func (v Value) isInParts() bool {
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
// a whole, as many as can be read; false for other values.
func (v Value) Beginning() (Value, bool) {
	if v.err != nil || v.typ == nil || v.typ.Size() <= MaxSize {
		return Value{}, false
	}
	t := v.typ.Strip()
	size := t.Elem().Size()
	if _, ok := v.Address(); !ok || t.kind != Array || size == 0 || t.Size()/size > 1<<32 {
		return Value{}, false // no array is as large
	}
	short := ArrayIn(t.language, t.Elem(), max(1, MaxSize/size))
	short.lower, short.stride, short.vector, short.index = t.lower, t.stride, t.vector, t.index
	return v.part(short, 0), true
}

// element returns element i of an array, from 0.
func (v Value) element(t *Type, i uint64) Value { return v.Index(int64(i) + t.lower) }
