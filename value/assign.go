// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"

	"github.com/clewdev/clew/value/internal/number"
)

// Assign writes p, which has Size bytes of the type in the machine's byte order,
// where the value lives; of a bit field it writes the bits alone. The error
// wraps ErrOptimizedOut or ErrNoAddress where the value, or a part of it, lives
// in no place that can be written: nothing is written then.
func (v Value) Assign(w Writer, p []byte) error {
	if err := v.Err(); err != nil {
		return err
	}
	m := v.typ.machine
	size := 8 * v.typ.Size()
	if uint64(len(p))*8 != size {
		return fmt.Errorf("%w: %d bytes for a value of %d", ErrType, len(p), size/8)
	}
	from := uint64(0)
	if v.bitSize != 0 {
		if number.IsBigEndian(m) {
			from = size - v.bitSize
		}
		size = v.bitSize
	}
	// What is beside the value in its bytes is read first, and so is known to
	// be readable before anything is written.
	type write struct {
		piece *Piece
		at    uint64
		bytes []byte
	}
	var writes []write
	at := v.bitOffset
	for k := range v.pieces {
		piece := &v.pieces[k]
		if at >= piece.BitSize {
			at -= piece.BitSize
			continue
		}
		n := min(piece.BitSize-at, size)
		if piece.Kind == OptimizedOut {
			return ErrOptimizedOut
		}
		if piece.Kind != InMemory && piece.Kind != InRegister {
			return fmt.Errorf("value is not an lvalue: %w", ErrNoAddress)
		}
		b, start, err := v.source(piece, at, n, new([8]byte))
		if err != nil {
			return err
		}
		if start+n > 8*uint64(len(b)) {
			return fmt.Errorf("%w: %d bits at bit %d of %d bytes", ErrExpression, n, start, len(b))
		}
		number.CopyBits(m, b, start, p, from, n)
		writes = append(writes, write{piece, (piece.BitOffset + at) / 8, b})
		at, from, size = 0, from+n, size-n
		if size == 0 {
			break
		}
	}
	if size != 0 {
		return ErrOptimizedOut
	}
	for _, x := range writes {
		var err error
		if x.piece.Kind == InMemory {
			err = w.WriteMemory(x.bytes, x.piece.Address+x.at)
		} else {
			err = w.SetRegisterBytes(x.piece.Column, x.bytes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
