// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"math"
	"math/big"

	"github.com/clewdev/clew/value/internal/number"
)

// Uint returns a Bool, Char, Int, Enum, Pointer or MemberPointer as 64 bits, sign-extended if
// its type is signed, a Float without its fraction, and for a reference the number that it
// refers to. The error wraps ErrType for other types.
func (v Value) Uint() (uint64, error) {
	v = v.referent()
	if err := v.Err(); err != nil {
		return 0, err
	}
	t := v.typ.Strip()
	switch t.kind {
	case Bool, Char, Int, Enum, Pointer, MemberPointer:
		b, err := v.Bytes()
		if err != nil {
			return 0, err
		}
		n := number.Uint(t.machine.Order, number.Low(t.machine, b, 8))
		if t.Signed() && len(b) < 8 {
			n = number.SignExtend(n, 8*uint64(len(b)))
		}
		return n, nil
	case Float:
		f, err := v.Float()
		if f < 0 || math.IsNaN(f) {
			return uint64(int64(f)), err
		}
		return uint64(f), err
	}
	return 0, fmt.Errorf("%w: %s is not a number", ErrType, v.typ)
}

// Float returns a number as a float64, and for a reference the number that it refers to. The
// error wraps ErrType for other types.
func (v Value) Float() (float64, error) {
	v = v.referent()
	if err := v.Err(); err != nil {
		return 0, err
	}
	t := v.typ.Strip()
	if t.kind != Float {
		n, err := v.Uint()
		if t.Signed() {
			return float64(int64(n)), err
		}
		return float64(n), err
	}
	b, err := v.Bytes()
	if err != nil {
		return 0, err
	}
	switch n := t.decodeFloat(b); {
	case n.Finite():
		f, _ := n.Value.Float64()
		return f, nil
	case n.NaN:
		return math.NaN(), nil
	case n.Infinite && n.Negative:
		return math.Inf(-1), nil
	case n.Infinite:
		return math.Inf(1), nil
	}
	return 0, fmt.Errorf("%w: floating-point number of %d bytes", ErrType, len(b))
}

// BigFloat returns a finite Float with all of its digits. Its precision is that of the format.
func (v Value) BigFloat() (*big.Float, bool) {
	v = v.referent()
	if v.Err() != nil || v.typ.Strip().kind != Float {
		return nil, false
	}
	b, err := v.Bytes()
	if err != nil {
		return nil, false
	}
	n := v.typ.Strip().decodeFloat(b)
	return n.Value, n.Finite()
}

// Cast converts the value as a C cast does: between numbers, enumerations and pointers, or to
// the same structure. It does not adjust pointers to base classes. The Err of the result wraps
// ErrType if C has no such cast.
func (v Value) Cast(t *Type) Value {
	if v.err != nil || v.typ == nil {
		return v
	}
	to := t.Strip()
	if to.kind != Reference && to.kind != RvalueReference {
		v = v.referent()
	}
	switch to.kind {
	case Reference, RvalueReference, Struct, Class, Union, Array:
		if to.kind == v.typ.Strip().kind && (to.Equal(v.typ) || to.Size() == v.typ.Size()) {
			v.typ = t
			return v
		}
		return failed(t, v.frame, fmt.Errorf("%w: cannot cast %s to %s", ErrType, v.typ, t))
	case Func:
		if address, ok := v.Address(); ok && v.typ.Strip().kind == Func {
			return At(t, address, v.frame)
		}
	case Void:
		return Constant(t, nil, v.frame)
	}
	v = v.Decay()
	if v.err != nil {
		return v
	}
	if p := v.implicit(); p != nil && to.kind == Pointer {
		v.typ = t
		return v
	}
	switch to.kind {
	case Bool:
		f, err := v.Float()
		if err != nil {
			return failed(t, v.frame, err)
		}
		n := uint64(0)
		if f != 0 {
			n = 1
		}
		return v.number(t, n)
	case Char, Int, Enum, Pointer:
		n, err := v.Uint()
		if err != nil {
			return failed(t, v.frame, err)
		}
		if !v.typ.Signed() && t.Size() > 8 {
			// Only signed numbers are sign-extended.
			b := make([]byte, min(t.Size(), 16))
			number.PutUint(t.machine.Order, b, n)
			return Constant(t, b, v.frame)
		}
		return v.number(t, n)
	case Float:
		f, err := v.Float()
		if err != nil {
			return failed(t, v.frame, err)
		}
		return FloatValue(t, f, v.frame)
	}
	return failed(t, v.frame, fmt.Errorf("%w: cannot cast %s to %s", ErrType, v.typ, t))
}

// IntValue returns an integer as a value of a Bool, Char, Int, Enum or Pointer.
func IntValue(t *Type, n uint64, f Frame) Value { return Value{frame: f}.number(t, n) }

// FloatValue returns a number as a value of a Float. Its Err is nil for the formats of C's
// types.
func FloatValue(t *Type, n float64, f Frame) Value {
	b := make([]byte, min(t.Size(), 16))
	if !number.EncodeFloat(t.machine, t.Strip().format, b, n) {
		return failed(t, f, fmt.Errorf("%w: floating-point number of %d bytes", ErrType, len(b)))
	}
	return Constant(t, b, f)
}

// BigFloatValue is FloatValue for a number of any precision, which it rounds.
func BigFloatValue(t *Type, n *big.Float, f Frame) Value {
	b := make([]byte, min(t.Size(), 16))
	if !number.EncodeBig(t.machine, t.Strip().format, b, n) {
		return failed(t, f, fmt.Errorf("%w: floating-point number of %d bytes", ErrType, len(b)))
	}
	return Constant(t, b, f)
}

// Assign writes p to the place of the value. p has Size bytes of the type in the machine's byte
// order. For a bit field, only its bits are written. The error wraps ErrOptimizedOut or
// ErrNoAddress if a part of the value has no place that can be written. Nothing is written then.
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
	// The bytes that contain other bits too are read first, so that nothing is written if
	// they cannot be read.
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

// Pointer returns a pointer to the value. Its Err wraps ErrNoAddress if the value is not in
// memory.
func (v Value) Pointer() Value {
	v = v.referent()
	if v.err != nil || v.typ == nil {
		return v
	}
	t := PointerTo(v.typ)
	address, ok := v.Address()
	if !ok {
		return failed(t, v.frame, ErrNoAddress)
	}
	return v.number(t, address)
}

// number returns a number or an address as a value of a type.
func (v Value) number(t *Type, n uint64) Value {
	b := make([]byte, min(t.Size(), 16))
	number.PutUint(t.machine.Order, b, n)
	if int64(n) < 0 && t.Signed() {
		number.ExtendSign(t.machine, b)
	}
	return Constant(t, b, v.frame)
}

// Decay returns a pointer to the first element of an array or to a function, the target of a
// reference, and every other value unchanged.
func (v Value) Decay() Value {
	v = v.referent()
	if v.err != nil || v.typ == nil {
		return v
	}
	t := v.typ.Strip()
	switch t.kind {
	case Array:
		address, ok := v.Address()
		if !ok {
			return failed(v.typ, v.frame, ErrNoAddress)
		}
		return v.number(PointerTo(t.Elem()), address)
	case Func:
		return v.Pointer()
	}
	return v
}

// ComplexParts returns the real and the imaginary part of a Complex.
func (v Value) ComplexParts() (re, im Value) {
	t := v.typ.Strip()
	half := t.Size() / 2
	part := t.elem
	if part == nil || part.kind == Void {
		part = &Type{machine: t.machine, language: t.language, kind: Float, format: t.format, size: half, sized: true, ready: true}
	}
	return v.part(part, 0), v.part(part, int64(half))
}
