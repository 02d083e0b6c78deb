// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"bytes"
	"errors"
	"fmt"

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
	var room [8]byte
	for k := range v.pieces {
		p := &v.pieces[k]
		if at >= p.BitSize {
			at -= p.BitSize
			continue
		}
		n := min(p.BitSize-at, size-done)
		src, from, err := v.source(p, at, n, &room)
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
	var room [8]byte
	for k := range v.pieces {
		p := &v.pieces[k]
		if at >= p.BitSize {
			at -= p.BitSize
			continue
		}
		n := min(p.BitSize-at, left)
		src, from, err := v.source(p, at, n, &room)
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
// them these start. Those of a register are in room.
func (v Value) source(p *Piece, at, n uint64, room *[8]byte) (b []byte, from uint64, err error) {
	m := v.typ.machine
	switch p.Kind {
	case InMemory:
		at += p.BitOffset
		read := make([]byte, (at%8+n+7)/8) // which escapes, as room shall not
		return read, at % 8, v.readMemory(read, p.Address+at/8)
	case InRegister:
		if b, err = v.registerBytes(p, room); err != nil {
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

func (v Value) registerBytes(p *Piece, room *[8]byte) ([]byte, error) {
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
	number.PutUint(m.Order, room[:], held(m, p.Column, n, p.BitSize, v.typ.Strip().kind == Float))
	return room[:], nil
}

// SameBits reports whether two values can be read, are equal bit by bit, and are optimized
// out in the same parts.
func (v Value) SameBits(u Value) bool {
	a, missingA, errA := v.contents()
	b, missingB, errB := u.contents()
	return errA == nil && errB == nil && bytes.Equal(a, b) && bytes.Equal(missingA, missingB)
}
