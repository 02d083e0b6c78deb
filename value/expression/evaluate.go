// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"math"
	"math/bits"

	"github.com/clewdev/clew/value"
)

// evaluate evaluates a node. The result need not be loaded yet.
func (e *Expression) evaluate(n *node) (operand, error) {
	o, err := e.apply(n)
	if err != nil {
		return operand{}, at(err, n.column)
	}
	return o, nil
}

// scalarOf evaluates a node and loads the result.
func (e *Expression) scalarOf(n *node) (operand, error) {
	o, err := e.evaluate(n)
	if err == nil {
		err = e.rvalue(&o)
	}
	if err != nil {
		return operand{}, at(err, n.column)
	}
	return o, nil
}

func (e *Expression) apply(n *node) (operand, error) {
	switch n.op {
	case literalOf:
		if n.string != nil {
			return held(n.operand.typ, value.Constant(n.operand.typ, n.string, e.frame)), nil
		}
		return n.operand, nil
	case variableOf:
		return e.variable(n.symbol)
	case registerOf:
		return operand{kind: registerOperand, register: n.register}, nil
	case convenienceOf:
		return e.convenience(n.text)
	case historyOf:
		return e.history(n)
	case typeOf:
		return operand{}, errorf("Attempt to use a type name as an expression")
	case comma:
		if _, err := e.evaluate(n.x); err != nil {
			return operand{}, err
		}
		return e.evaluate(n.y)
	case question:
		yes, err := e.truth(n.x)
		switch {
		case err != nil:
			return operand{}, err
		case yes:
			return e.evaluate(n.y)
		}
		return e.evaluate(n.z)
	case logicalNot, logicalAnd, logicalOr:
		yes, err := e.truth(n)
		if err != nil {
			return operand{}, err
		}
		return e.boolean(yes), nil
	case negate, plus, bitNot:
		return e.unary(n)
	case dereference:
		o, err := e.scalarOf(n.x)
		if err != nil {
			return operand{}, err
		}
		return e.dereference(&o)
	case addressOf:
		return e.addressOf(n.x)
	case memoryAs:
		o, err := e.scalarOf(n.x)
		if err != nil {
			return operand{}, err
		}
		if !o.form.isInteger() && o.form.kind != value.Pointer {
			return operand{}, errorf("Attempt to take contents of a non-pointer value.")
		}
		return e.object(n.typ, o.bits)
	case subscript:
		return e.subscript(n)
	case dot, arrow:
		return e.member(n)
	case repeat:
		return e.repeat(n)
	case castTo:
		o, err := e.evaluate(n.x)
		if err != nil {
			return operand{}, err
		}
		return e.cast(&o, n.typ)
	case sizeOf, alignOf:
		return e.sizeOf(n)
	case callOf:
		return e.call(n)
	case preIncrement, preDecrement, postIncrement, postDecrement:
		return e.step(n)
	}
	if n.op >= assign && n.op <= assignXor {
		return e.assignment(n)
	}
	x, y, err := e.operands(n)
	if err != nil {
		return operand{}, err
	}
	return e.binary(n.op, &x, &y)
}

// operands evaluates and loads both operands of a node.
func (e *Expression) operands(n *node) (x, y operand, err error) {
	if x, err = e.scalarOf(n.x); err == nil {
		y, err = e.scalarOf(n.y)
	}
	return x, y, err
}

func (e *Expression) boolean(yes bool) operand {
	if yes {
		return e.basics.int.scalar(1)
	}
	return e.basics.int.scalar(0)
}

// truth evaluates a node as a condition. If only types are needed, both sides of an operator are
// evaluated.
func (e *Expression) truth(n *node) (bool, error) {
	switch n.op {
	case logicalNot:
		yes, err := e.truthFor(n, n.x)
		return !yes, err
	case logicalAnd, logicalOr:
		yes, err := e.truthFor(n, n.x)
		if err != nil || yes == (n.op == logicalOr) && !e.dry {
			return yes, err
		}
		return e.truthFor(n, n.y)
	case equal, notEqual, less, lessEqual, greater, greaterEqual:
		x, y, err := e.operands(n)
		if err != nil {
			return false, err
		}
		yes, err := e.compare(n.op, &x, &y)
		if err != nil {
			return false, at(err, n.column)
		}
		return yes, nil
	}
	return e.truthFor(n, n)
}

// truthFor evaluates an operand of a logical operator.
func (e *Expression) truthFor(operator, n *node) (bool, error) {
	switch n.op {
	case logicalNot, logicalAnd, logicalOr, equal, notEqual, less, lessEqual, greater, greaterEqual:
		return e.truth(n)
	}
	o, err := e.scalarOf(n)
	switch {
	case err != nil:
		return false, err
	case o.kind == voidOperand || o.kind == convenienceOperand:
		return false, nil
	case o.kind != scalarOperand:
		return false, at(noOperator(operator.op, &o), operator.column)
	case o.form.kind == value.Float:
		return math.Float64frombits(o.bits) != 0, nil
	}
	return o.bits != 0, nil
}

// object returns the object at an address.
func (e *Expression) object(t *value.Type, address uint64) (operand, error) {
	o := operand{kind: memoryOperand, typ: t, form: formOf(t), bits: address}
	if o.form.kind == value.Void && !e.dry {
		return operand{}, errorf("Attempt to dereference a generic pointer.")
	}
	return o, nil
}

func (e *Expression) dereference(o *operand) (operand, error) {
	switch {
	case o.kind != scalarOperand:
	case o.form.kind == value.Pointer:
		return e.object(o.typ.Strip().Elem(), o.bits)
	case o.form.kind == value.Int || o.form.kind == value.Char: // gdb takes integers as addresses of longs
		return e.object(e.basics.untyped.typ, o.bits)
	}
	return operand{}, errorf("Attempt to take contents of a non-pointer value.")
}

var errNoAddress = &Error{Message: "Attempt to take address of value not located in memory.", Err: value.ErrNoAddress}

func (e *Expression) addressOf(n *node) (operand, error) {
	o, err := e.evaluate(n)
	if err != nil {
		return operand{}, err
	}
	e.follow(&o)
	switch o.kind {
	case memoryOperand:
		return e.pointer(o.typ, o.bits), nil
	case symbolOperand:
		return e.pointer(e.basics.void, o.bits), nil
	case valueOperand:
		if err := o.held().Err(); err != nil {
			return operand{}, err
		}
		if address, ok := o.held().Address(); ok { // in another object file
			return e.pointer(o.typ, address), nil
		}
	}
	return operand{}, errNoAddress
}

func (e *Expression) subscript(n *node) (operand, error) {
	x, err := e.evaluate(n.x)
	if err != nil {
		return operand{}, err
	}
	switch {
	case x.form.kind == value.Pointer:
		if err := e.load(&x); err != nil {
			return operand{}, err
		}
	case x.form.kind != value.Array && x.form.kind != value.Func && x.typ != nil:
		return operand{}, errorf("cannot subscript something of type `%s'", x.typ)
	}
	y, err := e.scalarOf(n.y)
	if err != nil {
		return operand{}, err
	}
	if !y.form.isInteger() || y.kind != scalarOperand {
		return operand{}, errNotNumber
	}
	switch {
	case x.kind == valueOperand && x.form.kind == value.Array && e.dry:
		elem := x.typ.Strip().Elem()
		return operand{kind: valueOperand, typ: elem, form: formOf(elem)}, nil
	case x.kind == valueOperand && x.form.kind == value.Array:
		if length, ok := x.typ.Strip().Len(); ok && y.bits >= length {
			return operand{}, errorf("no such vector element")
		}
		return e.checked(x.held().Index(int64(y.bits)))
	case x.form.kind == value.Array, x.form.kind == value.Pointer:
		elem := x.typ.Strip().Elem()
		if elem.Strip().Kind() != value.Func {
			return e.object(elem, x.bits+y.bits*max(elem.Size(), 1))
		}
	}
	return operand{}, errorf("cannot subscript requested type")
}

// checked returns a value as an operand, or its error if it has no type.
func (e *Expression) checked(v value.Value) (operand, error) {
	o := e.operandOf(v)
	if v.Type() == nil {
		return o, v.Err()
	}
	return o, nil
}

func (e *Expression) repeat(n *node) (operand, error) {
	x, err := e.evaluate(n.x)
	if err != nil {
		return operand{}, err
	}
	y, err := e.scalarOf(n.y)
	if err != nil {
		return operand{}, err
	}
	count := int64(y.bits)
	switch {
	case x.kind != memoryOperand || x.form.kind == value.Func:
		return operand{}, errorf("Only values in memory can be extended with '@'.")
	case !y.form.isInteger():
		return operand{}, errNotNumber
	case e.dry && count <= 0: // not evaluated
		count = 1
	case count <= 0 || count > math.MaxInt32:
		return operand{}, errorf("Invalid number %d of repetitions.", count)
	}
	if high, low := bits.Mul64(uint64(count), x.typ.Size()); high != 0 || low > maxTypeSize {
		return operand{}, errorf("Invalid number %d of repetitions.", count)
	}
	return e.object(value.ArrayOf(x.typ, uint64(count)), x.bits)
}

// sizeOf evaluates sizeof and _Alignof. As in gdb the result is an int.
func (e *Expression) sizeOf(n *node) (operand, error) {
	t := n.x.typ
	if n.x.op != typeOf {
		dry := e.dry
		e.dry = true
		o, err := e.evaluate(n.x)
		if err == nil && o.kind == registerOperand {
			err = e.load(&o)
		}
		e.dry = dry
		if err != nil {
			return operand{}, err
		}
		if o.kind == symbolOperand {
			return operand{}, unknownType(o.name)
		}
		t = o.typ
		if t == nil {
			t = e.basics.void
		}
	}
	if isReference(t) {
		t = t.Strip().Elem() // C++17 [expr.sizeof]
	}
	size := t.Size()
	if n.op == alignOf {
		size = t.Align()
	} else if t.Strip().Kind() == value.Void {
		size = 1 // as in GNU C
	}
	return e.basics.int.scalar(e.basics.int.form.cut(size)), nil
}

func (e *Expression) convenience(name string) (operand, error) {
	if c := e.context.Convenience; c != nil {
		if v, ok := c.Get(name); ok {
			o := e.operandOf(v)
			if err := e.load(&o); err != nil {
				return operand{}, err
			}
			o.name = name
			return o, nil
		}
	}
	return operand{kind: convenienceOperand, name: name}, nil
}

func (e *Expression) history(n *node) (operand, error) {
	if e.context.History == nil {
		return operand{kind: voidOperand}, nil
	}
	v, err := e.context.History(n.index, n.relative)
	if err != nil {
		return operand{}, err
	}
	return e.operandOf(v), nil
}
