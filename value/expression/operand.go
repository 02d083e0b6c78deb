// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"encoding/binary"
	"math"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
)

type operandKind uint8

const (
	voidOperand        operandKind = iota
	scalarOperand                  // bits
	memoryOperand                  // an object at an address, not read yet
	valueOperand                   // a value of package value: everything else
	registerOperand                // a register, not read yet
	convenienceOperand             // a convenience variable that has no value yet
	symbolOperand                  // data without debugging information, at an address
)

// operand is the result of a part of an expression. Where it is not a scalar,
// it can be what an assignment changes.
type operand struct {
	kind     operandKind
	typ      *value.Type  // nil of a void, convenience or symbol operand
	form     form         // of typ
	bits     uint64       // of a scalar: see form.cut; of objects in memory: the address
	value    *value.Value // of a value; nil where only types are asked for
	register *register
	name     string // of the convenience variable that this is, "" for none; of a symbol
}

// form is what arithmetic needs to know of a type.
type form struct {
	kind   value.Kind // without typedefs and qualifiers
	signed bool
	size   uint64 // bytes
}

func formOf(t *value.Type) form {
	if t == nil {
		return form{kind: value.Void}
	}
	return form{kind: t.Strip().Kind(), signed: t.Signed(), size: t.Size()}
}

func (f form) isInteger() bool {
	return f.kind == value.Int || f.kind == value.Char || f.kind == value.Enum || f.kind == value.Bool
}

// isScalar reports whether values are kept in 64 bits.
func (f form) isScalar() bool {
	return f.kind == value.Float && f.size <= 16 || (f.isInteger() || f.kind == value.Pointer) && f.size <= 8 && f.size > 0
}

func (f form) isAggregate() bool {
	return f.kind == value.Struct || f.kind == value.Class || f.kind == value.Union
}

// cut makes 64 bits those of a value: integers are extended from their size,
// Bools are 0 or 1, and Floats are the bits of a float64 with the precision of
// their size.
func (f form) cut(bits uint64) uint64 {
	switch {
	case f.kind == value.Float:
		if f.size == 4 {
			return math.Float64bits(float64(float32(math.Float64frombits(bits))))
		}
		return bits
	case f.kind == value.Bool:
		if bits != 0 {
			return 1
		}
		return 0
	case f.size >= 8 || f.size == 0:
		return bits
	}
	shift := 64 - 8*f.size
	if f.signed {
		return uint64(int64(bits<<shift) >> shift)
	}
	return bits << shift >> shift
}

func scalar(t *value.Type, bits uint64) operand {
	return operand{kind: scalarOperand, typ: t, form: formOf(t), bits: bits}
}

// held makes an operand of a value.
func held(t *value.Type, v value.Value) operand {
	return operand{kind: valueOperand, typ: t, form: formOf(t), value: &v}
}

func (o *operand) held() value.Value {
	if o.value == nil {
		return value.Value{}
	}
	return *o.value
}

func (o *operand) float() float64 {
	switch {
	case o.form.kind == value.Float:
		return math.Float64frombits(o.bits)
	case o.form.signed:
		return float64(int64(o.bits))
	}
	return float64(o.bits)
}

// appendUint appends the low size bytes of a number in a machine's order.
func appendUint(b []byte, m *arch.Machine, bits uint64, size int) []byte {
	start := len(b)
	for range size {
		b = append(b, 0)
	}
	putUint(b[start:], m, bits)
	return b
}

// putUint fills b with the low bytes of a number, whose sign is extended where b
// has more than 8.
func putUint(b []byte, m *arch.Machine, bits uint64) {
	for i := range b {
		shift := 8 * min(i, 8)
		c := byte(bits >> shift)
		if i >= 8 {
			c = byte(int64(bits) >> 63)
		}
		if isBig(m) {
			b[len(b)-1-i] = c
		} else {
			b[i] = c
		}
	}
}

// getUint returns the number that up to 8 bytes are.
func getUint(b []byte, m *arch.Machine) uint64 {
	switch len(b) {
	case 4:
		return uint64(m.Order.Uint32(b))
	case 8:
		return m.Order.Uint64(b)
	}
	var bits uint64
	for i := range b {
		c := b[i]
		if isBig(m) {
			c = b[len(b)-1-i]
		}
		if i < 8 {
			bits |= uint64(c) << (8 * i)
		}
	}
	return bits
}

func isBig(m *arch.Machine) bool { return m.Order == binary.BigEndian }

// encode writes a scalar as it lies in memory.
func (o *operand) encode(b []byte, m *arch.Machine) []byte {
	if o.form.kind != value.Float {
		return appendUint(b, m, o.bits, int(o.form.size))
	}
	f := math.Float64frombits(o.bits)
	switch o.form.size {
	case 4:
		return appendUint(b, m, uint64(math.Float32bits(float32(f))), 4)
	case 8:
		return appendUint(b, m, o.bits, 8)
	}
	// Package value knows the other formats.
	double := value.Constant(value.Base(m, "double"), appendUint(nil, m, o.bits, 8), nil)
	wide, err := double.Cast(o.typ).Bytes()
	if err != nil {
		wide = make([]byte, o.form.size)
	}
	return append(b, wide...)
}
