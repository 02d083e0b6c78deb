// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"math"
	"math/big"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
)

type operandKind uint8

const (
	voidOperand        operandKind = iota
	scalarOperand                  // bits
	memoryOperand                  // an object at an address, not read yet
	valueOperand                   // any other value
	registerOperand                // a register, not read yet
	convenienceOperand             // a convenience variable without a value
	symbolOperand                  // data without debugging information, at an address
)

// operand is the result of a part of an expression. One that is not a scalar can be the target of an
// assignment.
type operand struct {
	kind     operandKind
	typ      *value.Type  // nil for a void, convenience or symbol operand
	form     form         // of typ
	wide     *big.Float   // of a scalar: its digits, if it is finite and a float64 has fewer; else nil
	bits     uint64       // of a scalar: see form.cut; of an object in memory the address
	value    *value.Value // of a value; nil if only types are needed
	register *register
	name     string // of the convenience variable or symbol, else ""
}

// form has the properties of a type that matter for arithmetic.
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

// isScalar reports whether values are represented by 64 bits.
func (f form) isScalar() bool {
	return f.kind == value.Float && f.size <= 16 || (f.isInteger() || f.kind == value.Pointer) && f.size <= 8 && f.size > 0
}

func (f form) isAggregate() bool {
	return f.kind == value.Struct || f.kind == value.Class || f.kind == value.Union
}

// cut normalizes the 64 bits of a value: integers are extended from their size, Bools are 0 or 1, and
// Floats are the bits of a float64 with the precision of their size.
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
	if f.signed {
		return number.SignExtend(bits, 8*f.size)
	}
	return bits & (1<<(8*f.size) - 1)
}

func scalar(t *value.Type, bits uint64) operand {
	return operand{kind: scalarOperand, typ: t, form: formOf(t), bits: bits}
}

// held returns a value as an operand.
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

// big returns a number with all of its digits, or nil if it is not finite.
func (o *operand) big() *big.Float {
	switch {
	case o.wide != nil:
		return o.wide
	case o.form.kind != value.Float && o.form.signed:
		return new(big.Float).SetInt64(int64(o.bits))
	case o.form.kind != value.Float:
		return new(big.Float).SetUint64(o.bits)
	}
	if f := o.float(); !math.IsInf(f, 0) && !math.IsNaN(f) {
		return big.NewFloat(f)
	}
	return nil
}

// appendUint appends a number as size bytes in a machine's order.
func appendUint(b []byte, m *arch.Machine, bits uint64, size int) []byte {
	start := len(b)
	b = append(b, make([]byte, size)...)
	number.PutUint(m.Order, b[start:], bits)
	if int64(bits) < 0 {
		number.ExtendSign(m, b[start:])
	}
	return b
}

// encode appends a scalar as it is in memory.
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
	if o.wide != nil {
		if wide, err := value.BigFloatValue(o.typ, o.wide, nil).Bytes(); err == nil {
			return append(b, wide...)
		}
	}
	double := value.Constant(value.Base(m, "double"), appendUint(nil, m, o.bits, 8), nil)
	wide, err := double.Cast(o.typ).Bytes()
	if err != nil {
		wide = make([]byte, o.form.size)
	}
	return append(b, wide...)
}
