// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"fmt"
	"math"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/number"
)

var errInvalidCast = &Error{Message: "Invalid cast.", Err: value.ErrType}

// cast converts an operand to a type.
func (e *Expression) cast(o *operand, t *value.Type) operand {
	to := formOf(t)
	if isReference(t) {
		return e.castReference(o, t)
	}
	if o.kind == symbolOperand { // the cast states the type of the data
		return e.object(t, o.bits)
	}
	if to.kind == value.Void {
		return operand{kind: voidOperand, typ: t}
	}
	object := *o
	if to.kind != value.Array && !to.isAggregate() {
		e.rvalue(o)
	}
	if o.kind == scalarOperand && to.isScalar() {
		from := o.form
		converted := operand{kind: scalarOperand, typ: t, form: to, bits: o.bits}
		switch {
		case to.kind == value.Float && from.kind != value.Pointer:
			converted.bits = to.cut(math.Float64bits(o.float()))
			if to.size > 8 {
				converted.wide = o.big()
			}
			return converted
		case to.isInteger() && from.kind == value.Float:
			converted.bits = to.cut(truncate(o.float(), to))
			if o.wide != nil && to.kind != value.Bool {
				whole, _ := o.wide.Int(nil)
				if whole.IsInt64() {
					converted.bits = to.cut(uint64(whole.Int64()))
				}
			}
			return converted
		case to.kind == value.Pointer && from.kind == value.Pointer && isClass(t.Strip().Elem()) && isClass(o.typ.Strip().Elem()):
			converted.bits = e.classPointer(o.bits, o.typ.Strip().Elem().Strip(), t.Strip().Elem().Strip())
			return converted
		case to.isInteger(), to.kind == value.Pointer && from.kind != value.Float:
			converted.bits = to.cut(o.bits)
			return converted
		}
	}
	if to.kind == value.Float && object.form.kind == value.Array {
		panic(e.failure(errInvalidCast))
	}
	return e.reinterpret(&object, t)
}

// castReference returns a reference to an object as an object of another type.
func (e *Expression) castReference(o *operand, t *value.Type) operand {
	e.follow(o)
	target := e.cast(o, t.Strip().Elem())
	if e.dry {
		return held(t, value.Value{})
	}
	if target.kind != memoryOperand {
		panic(e.failure(errNoAddress))
	}
	m := e.context.Machine
	return held(t, value.Constant(t, appendUint(nil, m, target.bits, m.AddressSize), e.frame))
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
func (e *Expression) reinterpret(o *operand, t *value.Type) operand {
	if o.kind == memoryOperand && isClass(t) && isClass(o.typ) {
		return e.object(t, e.classPointer(o.bits, o.typ.Strip(), t.Strip()))
	}
	if o.kind == valueOperand {
		if e.dry {
			return operand{kind: valueOperand, typ: t, form: formOf(t)}
		}
		v := o.held().Cast(t)
		if v.Err() == nil {
			return e.operandOf(v)
		}
	}
	if o.kind == memoryOperand && o.form.kind != value.Func {
		return e.object(t, o.bits)
	}
	panic(e.failure(errInvalidCast))
}

var (
	errNotLvalue = &Error{Message: "Left operand of assignment is not an lvalue."}
	errReadOnly  = &Error{Message: "The program cannot be changed here."}
)

// assignment evaluates x = y and x += y.
func (e *Expression) assignment(n *node) operand {
	target := e.evaluate(n.x)
	e.follow(&target)
	source := e.evaluate(n.y)
	if op := assigning[n.op]; op != nop {
		x := target
		e.column = n.x.column
		e.rvalue(&x)
		e.column = n.y.column
		e.rvalue(&source)
		e.column = n.column
		source = e.binary(op, &x, &source)
	}
	return e.assign(&target, &source)
}

// step evaluates ++ and --.
func (e *Expression) step(n *node) operand {
	target := e.evaluate(n.x)
	e.follow(&target)
	old := target
	e.rvalue(&old)
	op := add
	if n.op == preDecrement || n.op == postDecrement {
		op = subtract
	}
	one := e.basics.int.scalar(1)
	changed := e.binary(op, &old, &one)
	result := e.assign(&target, &changed)
	if n.op == postIncrement || n.op == postDecrement {
		old.name = ""
		return old
	}
	return result
}

// assign changes target and returns it.
func (e *Expression) assign(target, source *operand) operand {
	if target.name != "" && target.kind != symbolOperand {
		return e.assignConvenience(target.name, source)
	}
	switch target.kind {
	case symbolOperand:
		panic(e.failure(unknownType(target.name)))
	case registerOperand:
		return e.assignRegister(target, source)
	case memoryOperand, valueOperand:
	default:
		panic(e.failure(errNotLvalue))
	}
	if target.form.kind == value.Func {
		panic(e.failure(errInvalidCast))
	}
	from := e.convert(source, target.typ)
	if e.dry {
		return *target
	}
	writer := e.writer()
	v := target.held()
	if target.kind == memoryOperand {
		v = value.At(target.typ, target.bits, e.frame)
	}
	if n := v.BitSize(); n != 0 && n < 64 && len(from) <= 8 {
		e.warnBits(number.Uint(e.context.Machine.Order, from), n, target.form)
	}
	e.check(v.Assign(writer, from))
	return e.operandOf(v)
}

// warnBits warns if a number does not fit in a bit field.
func (e *Expression) warnBits(bits, size uint64, f form) {
	if f.signed {
		bits = f.cut(bits)
	}
	if mask := uint64(1)<<size - 1; bits&^mask != 0 && ^bits&^(mask>>1) != 0 {
		e.warn(fmt.Sprintf("Value does not fit in %d bits.", size))
	}
}

// warn reports a warning.
func (e *Expression) warn(text string) {
	if e.context.Warn != nil && !e.dry {
		e.context.Warn(text)
	}
}

func (e *Expression) writer() value.Writer {
	writer, ok := e.frame.(value.Writer)
	if !ok {
		panic(e.failure(errReadOnly))
	}
	return writer
}

// convert returns the bytes of an operand that is converted to a type, or nil if only types are
// needed.
func (e *Expression) convert(o *operand, t *value.Type) []byte {
	to := formOf(t)
	if to.kind == value.Array && o.kind == valueOperand && o.form.kind == value.Array && !e.dry {
		b, err := o.held().Bytes() // a string, to be padded with zeros
		e.check(err)
		if uint64(len(b)) > to.size && len(b) > 0 && b[len(b)-1] == 0 {
			b = b[:len(b)-1]
		}
		if uint64(len(b)) > to.size {
			panic(e.failure(errorf("The string is longer than the array.")))
		}
		if to.size > value.MaxSize { // a cast can name any size
			panic(e.failure(&Error{Message: "The array is too large to be assigned.", Err: value.ErrTooLarge}))
		}
		return append(b, make([]byte, to.size-uint64(len(b)))...)
	}
	if to.isAggregate() && o.form.kind != to.kind {
		panic(e.failure(errInvalidCast))
	}
	from := e.cast(o, t)
	if e.dry {
		return nil
	}
	if from.kind == scalarOperand {
		return from.encode(nil, e.context.Machine)
	}
	b, err := e.result(&from).Bytes()
	e.check(err)
	return b
}

func (e *Expression) assignConvenience(name string, source *operand) operand {
	e.load(source)
	if e.context.Convenience == nil {
		panic(e.failure(errorf("There are no convenience variables here.")))
	}
	result := *source
	result.name = name
	if e.dry {
		return result
	}
	e.check(e.context.Convenience.Set(name, e.result(source)))
	return result
}
