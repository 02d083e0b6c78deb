// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"math"

	"github.com/clewdev/clew/value"
)

var errInvalidCast = &Error{Message: "Invalid cast.", Err: value.ErrType}

// cast converts an operand to a type.
func (e *Expression) cast(o *operand, t *value.Type) (operand, error) {
	to := formOf(t)
	if o.kind == symbolOperand { // the cast states the type of the data
		return e.object(t, o.bits)
	}
	if to.kind == value.Void {
		return operand{kind: voidOperand, typ: t}, nil
	}
	object := *o
	if to.kind != value.Array && !to.isAggregate() {
		if err := e.rvalue(o); err != nil {
			return operand{}, err
		}
	}
	if o.kind == scalarOperand && to.isScalar() {
		from := o.form
		converted := operand{kind: scalarOperand, typ: t, form: to, bits: o.bits}
		switch {
		case to.kind == value.Float && from.kind != value.Pointer:
			converted.bits = to.cut(math.Float64bits(o.float()))
			return converted, nil
		case to.isInteger() && from.kind == value.Float:
			converted.bits = to.cut(truncate(o.float(), to))
			return converted, nil
		case to.isInteger(), to.kind == value.Pointer && from.kind != value.Float:
			converted.bits = to.cut(o.bits)
			return converted, nil
		}
	}
	return e.reinterpret(&object, t)
}

// truncate returns a floating-point number as an integer.
func truncate(f float64, to form) uint64 {
	switch {
	case to.kind == value.Bool && f != 0:
		return 1
	case !to.signed && f >= 1<<63:
		return uint64(f)
	case f != f:
		return 1 << 63
	case f >= 1<<63:
		return math.MaxInt64
	case f < -1<<63:
		return 1 << 63
	}
	return uint64(int64(f))
}

// reinterpret returns an object in memory as an object of another type, as gdb does where C has no
// cast.
func (e *Expression) reinterpret(o *operand, t *value.Type) (operand, error) {
	if o.kind == valueOperand {
		if e.dry {
			return operand{kind: valueOperand, typ: t, form: formOf(t)}, nil
		}
		v := o.held().Cast(t)
		if v.Err() == nil {
			return e.operandOf(v), nil
		}
	}
	if o.kind == memoryOperand && o.form.kind != value.Func {
		return e.object(t, o.bits)
	}
	return operand{}, errInvalidCast
}

var (
	errNotLvalue = &Error{Message: "Left operand of assignment is not an lvalue."}
	errReadOnly  = &Error{Message: "The program cannot be changed here."}
)

// assignment evaluates x = y and x += y.
func (e *Expression) assignment(n *node) (operand, error) {
	target, err := e.evaluate(n.x)
	if err != nil {
		return operand{}, err
	}
	source, err := e.evaluate(n.y)
	if err != nil {
		return operand{}, err
	}
	if op := assigning[n.op]; op != nop {
		x := target
		if err := e.rvalue(&x); err != nil {
			return operand{}, at(err, n.x.column)
		}
		if err := e.rvalue(&source); err != nil {
			return operand{}, at(err, n.y.column)
		}
		if source, err = e.binary(op, &x, &source); err != nil {
			return operand{}, err
		}
	}
	return e.assign(&target, &source)
}

// step evaluates ++ and --.
func (e *Expression) step(n *node) (operand, error) {
	target, err := e.evaluate(n.x)
	if err != nil {
		return operand{}, err
	}
	old := target
	if err := e.rvalue(&old); err != nil {
		return operand{}, err
	}
	op := add
	if n.op == preDecrement || n.op == postDecrement {
		op = subtract
	}
	one := e.basics.int.scalar(1)
	changed, err := e.binary(op, &old, &one)
	if err != nil {
		return operand{}, err
	}
	result, err := e.assign(&target, &changed)
	if n.op == postIncrement || n.op == postDecrement {
		old.name = ""
		return old, err
	}
	return result, err
}

// assign changes target and returns it.
func (e *Expression) assign(target, source *operand) (operand, error) {
	if target.name != "" && target.kind != symbolOperand {
		return e.assignConvenience(target.name, source)
	}
	switch target.kind {
	case symbolOperand:
		return operand{}, unknownType(target.name)
	case registerOperand:
		return e.assignRegister(target, source)
	case memoryOperand, valueOperand:
	default:
		return operand{}, errNotLvalue
	}
	if target.form.kind == value.Func {
		return operand{}, errInvalidCast
	}
	from, err := e.convert(source, target.typ)
	if err != nil {
		return operand{}, err
	}
	if e.dry {
		return *target, nil
	}
	writer, ok := e.frame.(value.Writer)
	if !ok {
		return operand{}, errReadOnly
	}
	v := target.held()
	if target.kind == memoryOperand {
		v = value.At(target.typ, target.bits, e.frame)
	}
	if err := v.Assign(writer, from); err != nil {
		return operand{}, err
	}
	return e.operandOf(v), nil
}

// convert returns the bytes of an operand that is converted to a type.
func (e *Expression) convert(o *operand, t *value.Type) ([]byte, error) {
	to := formOf(t)
	if to.kind == value.Array && o.kind == valueOperand && o.form.kind == value.Array && !e.dry {
		b, err := o.held().Bytes() // a string, to be padded with zeros
		if err != nil {
			return nil, err
		}
		if uint64(len(b)) > to.size && len(b) > 0 && b[len(b)-1] == 0 {
			b = b[:len(b)-1]
		}
		if uint64(len(b)) > to.size {
			return nil, errorf("The string is longer than the array.")
		}
		if to.size > value.MaxSize { // a cast can name any size
			return nil, &Error{Message: "The array is too large to be assigned.", Err: value.ErrTooLarge}
		}
		return append(b, make([]byte, to.size-uint64(len(b)))...), nil
	}
	if to.isAggregate() && o.form.kind != to.kind {
		return nil, errInvalidCast
	}
	from, err := e.cast(o, t)
	if err != nil || e.dry {
		return nil, err
	}
	if from.kind == scalarOperand {
		return from.encode(nil, e.context.Machine), nil
	}
	v, err := e.result(&from)
	if err != nil {
		return nil, err
	}
	return v.Bytes()
}

func (e *Expression) assignConvenience(name string, source *operand) (operand, error) {
	if err := e.load(source); err != nil {
		return operand{}, err
	}
	if e.context.Convenience == nil {
		return operand{}, errorf("There are no convenience variables here.")
	}
	result := *source
	result.name = name
	if e.dry {
		return result, nil
	}
	v, err := e.result(source)
	if err != nil {
		return operand{}, err
	}
	return result, e.context.Convenience.Set(name, v)
}
