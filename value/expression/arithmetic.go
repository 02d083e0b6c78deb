// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"math"
	"math/big"

	"github.com/clewdev/clew/value"
)

var (
	errNotNumber = &Error{Message: "Argument to arithmetic operation not a number or boolean."}
	errComplex   = &Error{Message: "The console does not calculate with complex numbers; \"clew debug --gdb\" does."}
	errDivision  = &Error{Message: "Division by zero"}
)

// noOperator returns the error for an operand that is not a number.
func noOperator(op operator, o *operand) error {
	if o.form.isAggregate() {
		if o.typ.Strip().Language() == value.CPlusPlus {
			return errorf("operator%s of a class: the console does not call operators; \"clew debug --gdb\" does.", op)
		}
		return errorf("Structure has no component named operator%s.", op)
	}
	if o.form.kind == value.Complex {
		return errComplex
	}
	return errNotNumber
}

func (e *Expression) unary(n *node) operand {
	o := e.scalarOf(n.x)
	if o.form.isAggregate() || o.form.kind == value.Complex {
		panic(e.failure(noOperator(n.op, &o)))
	}
	if o.kind != scalarOperand || !o.form.isInteger() && (o.form.kind != value.Float || n.op == bitNot) {
		switch n.op {
		case negate:
			panic(e.failure(errorf("Argument to negate operation not a number.")))
		case plus:
			panic(e.failure(errorf("Argument to positive operation not a number.")))
		}
		panic(e.failure(errorf("Argument to complement operation not an integer, boolean.")))
	}
	o.name, o.typ = "", o.typ.WithoutTypedefs()
	if o.form.kind == value.Float {
		if n.op == negate {
			if o.wide != nil && o.wide.Sign() != 0 {
				o.wide = new(big.Float).Neg(o.wide)
			}
			o.bits = math.Float64bits(0 - math.Float64frombits(o.bits)) // as in gdb, -0.0 is 0
		}
		return o
	}
	if o.form.size < e.basics.int.form.size { // an enumeration with an int's size keeps its type
		o.typ, o.form = e.basics.int.typ, e.basics.int.form
	}
	switch n.op {
	case negate:
		o.bits = -o.bits
	case bitNot:
		o.bits = ^o.bits
	}
	o.bits = o.form.cut(o.bits)
	return o
}

// promote returns the type in which an operation on two integers is computed: C11 §6.3.1.8, and as
// in gdb long for all types of its size.
func (e *Expression) promote(x, y form) basic {
	b := &e.basics
	size := max(x.size, y.size, b.int.form.size)
	if e.basics.rust { // as in gdb
		if size <= b.int.form.size && (x.size == size && !x.signed || y.size == size && !y.signed) {
			return b.ulong
		}
		if size <= b.int.form.size {
			return b.long
		}
	}
	unsigned := x.size == size && !x.signed && x.kind != value.Bool || y.size == size && !y.signed && y.kind != value.Bool
	switch {
	case size <= b.int.form.size && unsigned:
		return b.uint
	case size <= b.int.form.size:
		return b.int
	case size <= b.long.form.size && unsigned:
		return b.ulong
	case size <= b.long.form.size:
		return b.long
	case unsigned:
		return b.ulonglong
	}
	return b.longlong
}

// binary applies an operator to two loaded operands.
func (e *Expression) binary(op operator, x, y *operand) operand {
	switch op {
	case equal, notEqual, less, lessEqual, greater, greaterEqual:
		return e.boolean(e.compare(op, x, y))
	}
	for _, o := range [...]*operand{x, y} {
		if o.form.isAggregate() || o.form.kind == value.Complex {
			panic(e.failure(noOperator(op, o)))
		}
	}
	if x.kind != scalarOperand || y.kind != scalarOperand {
		panic(e.failure(errNotNumber))
	}
	if x.form.kind == value.Pointer || y.form.kind == value.Pointer {
		return e.pointerArithmetic(op, x, y)
	}
	if x.form.kind == value.Float || y.form.kind == value.Float {
		return e.floatArithmetic(op, x, y)
	}
	if x.form.kind == value.Bool && y.form.kind == value.Bool {
		if op == bitAnd || op == bitOr || op == bitXor {
			bits, _ := integer(op, x.bits, y.bits, x.form)
			return basic{x.typ, x.form}.scalar(bits)
		}
		panic(e.failure(errorf("Invalid operation on booleans.")))
	}
	to := e.promote(x.form, y.form)
	if op == shiftLeft || op == shiftRight { // C11 §6.5.7: the type is that of the left operand
		to = basic{x.typ.WithoutTypedefs(), x.form}
		if x.form.size < e.basics.int.form.size {
			to = e.basics.int
		}
		if y.form.signed && int64(y.bits) < 0 || y.bits >= 8*to.form.size {
			direction, problem := "left", ">= width of type"
			if op == shiftRight {
				direction = "right"
			}
			if y.form.signed && int64(y.bits) < 0 {
				problem = "is negative"
			}
			e.warn(direction + " shift count " + problem)
			// Not defined in C. As in gdb, all bits are shifted out.
			if op == shiftRight && to.form.signed && int64(x.bits) < 0 {
				return to.scalar(math.MaxUint64)
			}
			return to.scalar(0)
		}
	}
	a, b := to.form.cut(x.bits), y.bits
	if op != shiftLeft && op != shiftRight {
		b = to.form.cut(y.bits)
	}
	bits, ok := integer(op, a, b, to.form)
	if !ok {
		if !e.dry {
			panic(e.failure(errDivision))
		}
		bits = a
	}
	return to.scalar(bits)
}

// integer applies an operator in 64 bits and cuts the result to a form. It returns false for a
// division by zero.
func integer(op operator, a, b uint64, f form) (uint64, bool) {
	var r uint64
	switch op {
	case add:
		r = a + b
	case subtract:
		r = a - b
	case multiply:
		r = a * b
	case divide, remainder:
		switch {
		case b == 0:
			return 0, false
		case op == divide && f.signed:
			r = uint64(int64(a) / int64(b))
		case op == divide:
			r = a / b
		case f.signed:
			r = uint64(int64(a) % int64(b))
		default:
			r = a % b
		}
	case bitAnd:
		r = a & b
	case bitOr:
		r = a | b
	case bitXor:
		r = a ^ b
	case shiftLeft:
		r = a << b
	case shiftRight:
		if f.signed {
			r = uint64(int64(a) >> b)
		} else {
			r = a >> b
		}
	}
	return f.cut(r), true
}

func (e *Expression) floatArithmetic(op operator, x, y *operand) operand {
	if !x.form.isInteger() && x.form.kind != value.Float || !y.form.isInteger() && y.form.kind != value.Float {
		panic(e.failure(errNotNumber))
	}
	to := wider(x, y)
	if to.form.size <= 8 && e.basics.rust { // as in gdb
		double := value.Base(e.context.Machine, "double")
		to = basic{double, formOf(double)}
	}
	to.typ = to.typ.WithoutTypedefs()
	if o, ok := e.wideArithmetic(op, to, x, y); ok {
		return o
	}
	a, b := to.form.toFloat(x), to.form.toFloat(y)
	var r float64
	switch op {
	case add:
		r = a + b
	case subtract:
		r = a - b
	case multiply:
		r = a * b
	case divide:
		r = a / b
	default:
		panic(e.failure(errorf("Integer-only operation on floating point number.")))
	}
	return to.scalar(to.form.cut(math.Float64bits(r)))
}

// wideArithmetic calculates in a type with more precision than a float64. It returns false for other
// types, and where an operand or the result is not finite.
func (e *Expression) wideArithmetic(op operator, to basic, x, y *operand) (operand, bool) {
	if to.form.size <= 8 {
		return operand{}, false
	}
	a, b := x.big(), y.big()
	if a == nil || b == nil || op == divide && b.Sign() == 0 {
		return operand{}, false
	}
	r := new(big.Float).SetPrec(precision(to.typ))
	switch op {
	case add:
		r.Add(a, b)
	case subtract:
		r.Sub(a, b)
	case multiply:
		r.Mul(a, b)
	case divide:
		r.Quo(a, b)
	default:
		return operand{}, false
	}
	f, _ := r.Float64()
	o := to.scalar(math.Float64bits(f))
	o.wide = r
	return o, true
}

// precision returns the number of bits of the significand of a floating-point type.
func precision(t *value.Type) uint {
	if one, ok := value.FloatValue(t, 1, nil).BigFloat(); ok {
		return one.Prec()
	}
	return 53
}

// wider returns the floating-point type in which an operation on two numbers is computed: the only
// one, or the larger.
func wider(x, y *operand) basic {
	if x.form.kind != value.Float || y.form.kind == value.Float && y.form.size > x.form.size {
		return basic{y.typ, y.form}
	}
	return basic{x.typ, x.form}
}

func (f form) toFloat(o *operand) float64 {
	return math.Float64frombits(f.cut(math.Float64bits(o.float())))
}

func (e *Expression) pointerArithmetic(op operator, x, y *operand) operand {
	switch {
	case op == add && x.form.kind == value.Pointer && y.form.isInteger():
		return e.moved(x, y.bits)
	case op == add && y.form.kind == value.Pointer && x.form.isInteger():
		return e.moved(y, x.bits)
	case op == subtract && x.form.kind == value.Pointer && y.form.isInteger():
		return e.moved(x, -y.bits)
	case op == subtract && x.form.kind == value.Pointer && y.form.kind == value.Pointer:
		size := e.stride(x)
		if size != e.stride(y) {
			panic(e.failure(errorf("First argument of `-' is a pointer and second argument is neither\nan integer nor a pointer of the same type.")))
		}
		return e.basics.long.scalar(uint64(int64(x.bits-y.bits) / int64(size)))
	}
	panic(e.failure(errNotNumber))
}

func (e *Expression) moved(p *operand, count uint64) operand {
	o := *p
	o.bits, o.name = o.form.cut(o.bits+count*e.stride(p)), ""
	return o
}

// stride returns the size in bytes of the objects to which a pointer points.
func (e *Expression) stride(p *operand) uint64 {
	return e.strideOf(e.resolved(p.typ.Strip().Elem(), p.bits))
}

func (e *Expression) strideOf(t *value.Type) uint64 {
	size := t.Size()
	if size == 0 && !e.dry {
		if s := t.Strip(); s.Kind() == value.Array {
			if _, ok := s.Len(); !ok {
				panic(e.failure(errorf("Cannot perform pointer math on incomplete types, try casting to a known type, or void *.")))
			}
		}
	}
	return min(max(size, 1), maxTypeSize)
}

// resolved returns the type of the object at an address with the lengths that it has in the frame.
func (e *Expression) resolved(t *value.Type, address uint64) *value.Type {
	if e.dry || e.frame == nil || !t.Dynamic() {
		return t
	}
	if v := value.At(t, address, e.frame).Resolved(); v.Type() != nil {
		return v.Type()
	}
	return t
}

// compare compares numbers and pointers.
func (e *Expression) compare(op operator, x, y *operand) bool {
	for _, o := range [...]*operand{x, y} {
		if o.form.isAggregate() || o.form.kind == value.Complex {
			panic(e.failure(noOperator(op, o)))
		}
	}
	if x.kind != scalarOperand || y.kind != scalarOperand {
		panic(e.failure(errorf("Invalid type combination in equality test.")))
	}
	if x.form.kind == value.Float || y.form.kind == value.Float {
		if x.form.kind == value.Pointer || y.form.kind == value.Pointer {
			panic(e.failure(errorf("Invalid type combination in equality test.")))
		}
		to := wider(x, y)
		if to.form.size > 8 {
			if a, b := x.big(), y.big(); a != nil && b != nil {
				return ordered(op, int64(a.Cmp(b)), 0)
			}
		}
		return ordered(op, to.form.toFloat(x), to.form.toFloat(y))
	}
	if x.form.kind == value.Pointer || y.form.kind == value.Pointer {
		return ordered(op, x.bits, y.bits)
	}
	to := e.promote(x.form, y.form)
	a, b := to.form.cut(x.bits), to.form.cut(y.bits)
	if to.form.signed {
		return ordered(op, int64(a), int64(b))
	}
	return ordered(op, a, b)
}

func ordered[T int64 | uint64 | float64](op operator, a, b T) bool {
	switch op {
	case equal:
		return a == b
	case notEqual:
		return a != b
	case less:
		return a < b
	case lessEqual:
		return a <= b
	case greater:
		return a > b
	}
	return a >= b
}
