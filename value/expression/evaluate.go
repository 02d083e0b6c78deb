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
func (e *Expression) evaluate(n *node) operand {
	outer := e.column
	e.column = n.column
	o := e.apply(n)
	e.column = outer
	return o
}

// scalarOf evaluates a node and loads the result.
func (e *Expression) scalarOf(n *node) operand {
	o := e.evaluate(n)
	e.scalar(&o, n)
	return o
}

// scalar loads the operand of a node, and converts arrays and functions to pointers.
func (e *Expression) scalar(o *operand, n *node) {
	outer := e.column
	e.column = n.column
	if e.follow(o); o.form.kind == value.Array && o.typ.Strip().Vector() {
		panic(e.failure(errorf("The console does not compute with vectors; \"clew debug --gdb\" does.")))
	}
	e.rvalue(o)
	e.column = outer
}

func (e *Expression) apply(n *node) operand {
	switch n.op {
	case literalOf:
		if n.string != nil {
			return held(n.operand.typ, value.Constant(n.operand.typ, n.string, e.frame))
		}
		return n.operand
	case variableOf:
		return e.variable(n.symbol)
	case registerOf:
		return operand{kind: registerOperand, register: n.register}
	case convenienceOf:
		return e.convenience(n.text)
	case historyOf:
		return e.history(n)
	case typeOf:
		if t := n.typ.Strip(); t.Language() == value.Rust && t.Kind() == value.Struct && !t.HasVariants() && len(t.Fields()) == 0 {
			return held(n.typ, value.Constant(n.typ, []byte{}, e.frame)) // struct Unit; has the value Unit
		}
		panic(e.failure(errorf("Attempt to use a type name as an expression")))
	case comma:
		e.evaluate(n.x)
		return e.evaluate(n.y)
	case question:
		return e.conditional(n)
	case logicalNot, logicalAnd, logicalOr:
		if n.op == logicalNot && e.context.language() == value.Rust {
			return e.rustNot(n)
		}
		return e.boolean(e.truth(n))
	case negate, plus, bitNot:
		return e.unary(n)
	case dereference:
		o := e.evaluate(n.x)
		if e.followSynthetic(&o) {
			return o
		}
		e.scalar(&o, n.x)
		return e.dereference(&o)
	case addressOf:
		return e.addressOf(n.x)
	case memoryAs:
		o := e.scalarOf(n.x)
		if !o.form.isInteger() && o.form.kind != value.Pointer {
			panic(e.failure(errorf("Attempt to take contents of a non-pointer value.")))
		}
		return e.object(n.typ, o.bits)
	case subscript:
		return e.subscript(n)
	case dot, arrow:
		return e.member(n)
	case repeat:
		return e.repeat(n)
	case castTo:
		o := e.evaluate(n.x)
		return e.cast(&o, n.typ)
	case sizeOf, alignOf:
		return e.sizeOf(n)
	case callOf:
		return e.call(n)
	case preIncrement, preDecrement, postIncrement, postDecrement:
		return e.step(n)
	}
	if n.op >= assign && n.op <= assignXor {
		o := e.assignment(n)
		if e.context.language() == value.Rust && n.x.op != convenienceOf && n.x.op != registerOf {
			unit := value.UnitOf(e.context.Machine)
			return held(unit, value.Constant(unit, []byte{}, e.frame))
		}
		return o
	}
	x, y := e.scalarOf(n.x), e.scalarOf(n.y)
	return e.binary(n.op, &x, &y)
}

// conditional evaluates x ? y : z. As in gdb, its type is that of the chosen operand.
func (e *Expression) conditional(n *node) operand {
	yes := e.truth(n.x)
	if e.dry {
		y, z := e.evaluate(n.y), e.evaluate(n.z)
		if y.typ != nil && z.typ != nil && !y.typ.Equal(z.typ) && !e.sizing {
			panic(e.failure(errorf("The type depends on the condition.")))
		}
		return y
	}
	if yes {
		return e.evaluate(n.y)
	}
	return e.evaluate(n.z)
}

// rustNot evaluates ! of Rust, which inverts the bits of an integer.
func (e *Expression) rustNot(n *node) operand {
	o := e.scalarOf(n.x)
	switch {
	case o.form.kind == value.Float:
		panic(e.failure(noOperator(bitNot, &o)))
	case o.kind != scalarOperand || !o.form.isInteger() || o.form.kind == value.Bool:
		return e.boolean(e.truth(n))
	}
	o.name, o.bits = "", o.form.cut(^o.bits)
	return o
}

func (e *Expression) boolean(yes bool) operand {
	if yes {
		return e.basics.truth.scalar(1)
	}
	return e.basics.truth.scalar(0)
}

// truth evaluates a node as a condition. If only types are needed, both sides of an operator are
// evaluated.
func (e *Expression) truth(n *node) bool {
	switch n.op {
	case logicalNot:
		return !e.truthFor(n, n.x)
	case logicalAnd, logicalOr:
		yes := e.truthFor(n, n.x)
		if yes == (n.op == logicalOr) && !e.dry {
			return yes
		}
		return e.truthFor(n, n.y)
	case equal, notEqual, less, lessEqual, greater, greaterEqual:
		x, y := e.scalarOf(n.x), e.scalarOf(n.y)
		outer := e.column
		e.column = n.column
		yes := e.compare(n.op, &x, &y)
		e.column = outer
		return yes
	}
	return e.truthFor(n, n)
}

// truthFor evaluates an operand of a logical operator.
func (e *Expression) truthFor(operator, n *node) bool {
	switch n.op {
	case logicalNot, logicalAnd, logicalOr, equal, notEqual, less, lessEqual, greater, greaterEqual:
		return e.truth(n)
	}
	o := e.scalarOf(n)
	switch {
	case o.kind == voidOperand || o.kind == convenienceOperand:
		return false
	case o.kind != scalarOperand:
		e.column = operator.column
		panic(e.failure(noOperator(operator.op, &o)))
	case o.form.kind == value.Float:
		return math.Float64frombits(o.bits) != 0
	}
	return o.bits != 0
}

// object returns the object at an address.
func (e *Expression) object(t *value.Type, address uint64) operand {
	o := operand{kind: memoryOperand, typ: t, form: formOf(t), bits: address}
	if o.form.kind == value.Void && !e.dry {
		panic(e.failure(errorf("Attempt to dereference a generic pointer.")))
	}
	return o
}

// followSynthetic replaces a pointer to an object that is not in memory (DW_OP_implicit_pointer) by
// the object, and reports whether the operand was one.
func (e *Expression) followSynthetic(o *operand) bool {
	if o.kind != valueOperand || o.form.kind != value.Pointer || !o.held().Synthetic() {
		return false
	}
	*o = e.operandOf(o.held().Deref())
	return true
}

func (e *Expression) dereference(o *operand) operand {
	switch {
	case o.kind != scalarOperand:
	case o.form.kind == value.Pointer:
		return e.object(e.resolved(o.typ.Strip().Elem(), o.bits), o.bits)
	case (o.form.kind == value.Int || o.form.kind == value.Char) && e.dry: // gdb's ptype *n
		return e.object(e.basics.int.typ, o.bits)
	case o.form.kind == value.Int || o.form.kind == value.Char: // gdb takes integers as addresses of longs
		return e.object(e.basics.untyped.typ, o.bits)
	}
	e.refuseOperator(o, "operator*")
	if o.form.isAggregate() && findField(o.typ, "vtable").found && findField(o.typ, "pointer").found && o.typ.Strip().Language() == value.Rust {
		panic(e.failure(errorf("The console does not find the type of a trait object; \"clew debug --gdb\" does.")))
	}
	panic(e.failure(errorf("Attempt to take contents of a non-pointer value.")))
}

// refuseOperator fails if an operator of a class would have to be called.
func (e *Expression) refuseOperator(o *operand, name string) {
	if o.form.isAggregate() && hasMethod(o.typ, name) {
		panic(e.failure(errorf("%s is a method: the console does not call operators of classes; \"clew debug --gdb\" does.", name)))
	}
}

var errNoAddress = &Error{Message: "Attempt to take address of value not located in memory.", Err: value.ErrNoAddress}

var errBitField = &Error{Message: "A bit-field has no address; take that of its structure.", Err: value.ErrNoAddress}

func (e *Expression) addressOf(n *node) operand {
	if n.op == variableOf && n.symbol.function != nil && e.isMethod(n.symbol.function) {
		panic(e.failure(errorf("%s is a method: %s", n.symbol.name, noMemberPointers)))
	}
	o := e.evaluate(n)
	e.follow(&o)
	switch o.kind {
	case memoryOperand:
		return e.pointer(o.typ, o.bits)
	case symbolOperand:
		return e.pointer(e.basics.void, o.bits)
	case valueOperand:
		e.check(o.held().Err())
		if address, ok := o.held().Address(); ok { // in another object file
			return e.pointer(o.typ, address)
		}
		if o.held().IsBitField() {
			panic(e.failure(errBitField))
		}
	}
	panic(e.failure(errNoAddress))
}

func (e *Expression) subscript(n *node) operand {
	x := e.evaluate(n.x)
	e.follow(&x)
	var length uint64 // of an array or slice of Rust
	var ok bool
	if x.form.isAggregate() && x.typ.Strip().Language() == value.Rust {
		length, ok = e.sliceData(&x)
	}
	switch {
	case x.form.kind == value.Pointer:
		e.load(&x)
	case x.form.kind != value.Array && x.form.kind != value.Func && x.typ != nil:
		e.refuseOperator(&x, "operator[]")
		panic(e.failure(errorf("cannot subscript something of type `%s'", x.typ)))
	}
	y := e.scalarOf(n.y)
	if !y.form.isInteger() || y.kind != scalarOperand {
		panic(e.failure(errNotNumber))
	}
	if x.form.kind == value.Array && x.typ.Strip().Language() == value.Rust {
		length, ok = x.typ.Strip().Len()
	}
	switch {
	case ok && y.bits >= length && !e.dry:
		panic(e.failure(errorf("The index is not less than the length, %d.", length)))
	case x.kind == valueOperand && x.form.kind == value.Array && e.dry:
		elem := x.typ.Strip().Elem()
		return operand{kind: valueOperand, typ: elem, form: formOf(elem)}
	case x.kind == valueOperand && x.form.kind == value.Array:
		if length, ok := x.typ.Strip().Len(); ok && y.bits >= length {
			panic(e.failure(errorf("no such vector element")))
		}
		return e.checked(x.held().Index(int64(y.bits)))
	case x.form.kind == value.Array, x.form.kind == value.Pointer:
		elem := e.resolved(x.typ.Strip().Elem(), x.bits)
		if elem.Strip().Kind() != value.Func {
			if y.bits == 0 {
				return e.object(elem, x.bits)
			}
			return e.object(elem, x.bits+y.bits*e.strideOf(elem))
		}
	}
	panic(e.failure(errorf("cannot subscript requested type")))
}

// sliceData replaces a slice of Rust by the pointer to its first element, and returns its length.
func (e *Expression) sliceData(o *operand) (length uint64, ok bool) {
	fields := o.typ.Strip().Fields()
	if len(fields) != 2 || fields[0].Name != "data_ptr" || fields[1].Name != "length" {
		return 0, false
	}
	v := o.held()
	if o.kind == memoryOperand {
		v = value.At(o.typ, o.bits, e.frame)
	}
	if e.dry {
		*o = operand{kind: scalarOperand, typ: fields[0].Type, form: formOf(fields[0].Type)}
		return 0, false
	}
	*o = e.operandOf(v.Field(0))
	length, err := v.Field(1).Uint()
	return length, err == nil
}

// checked returns a value as an operand, or its error if it has no type.
func (e *Expression) checked(v value.Value) operand {
	if v.Type() == nil {
		e.check(v.Err())
	}
	return e.operandOf(v)
}

func (e *Expression) repeat(n *node) operand {
	x := e.evaluate(n.x)
	y := e.scalarOf(n.y)
	count := int64(y.bits)
	switch {
	case x.kind != memoryOperand || x.form.kind == value.Func:
		panic(e.failure(errorf("Only values in memory can be extended with '@'.")))
	case !y.form.isInteger():
		panic(e.failure(errNotNumber))
	case e.dry && count <= 0: // not evaluated
		count = 1
	case count <= 0 || count > math.MaxInt32:
		panic(e.failure(errorf("Invalid number %d of repetitions.", count)))
	}
	if high, low := bits.Mul64(uint64(count), x.typ.Size()); high != 0 || low > maxTypeSize {
		panic(e.failure(errorf("Invalid number %d of repetitions.", count)))
	}
	return e.object(value.ArrayOf(x.typ, uint64(count)), x.bits)
}

// sizeOf evaluates sizeof and _Alignof. As in gdb the result is an int.
func (e *Expression) sizeOf(n *node) operand {
	t := n.x.typ
	if n.x.op != typeOf {
		dry, sizing := e.dry, e.sizing
		e.dry, e.sizing = true, true
		o := e.evaluate(n.x)
		if o.kind == registerOperand {
			e.load(&o)
		}
		e.dry, e.sizing = dry, sizing
		if o.typ != nil && o.typ.Dynamic() && !dry {
			// The length is in the frame (C11 §6.5.3.4 evaluates such operands too).
			o = e.evaluate(n.x)
			if o.typ == nil {
				o.typ = e.basics.void
			}
			if _, ok := o.typ.Strip().Len(); !ok && o.typ.Strip().Kind() == value.Array {
				return held(e.basics.int.typ, value.Lost(e.basics.int.typ, e.frame))
			}
		}
		if o.kind == symbolOperand {
			panic(e.failure(unknownType(o.name)))
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
	return e.basics.int.scalar(e.basics.int.form.cut(size))
}

func (e *Expression) convenience(name string) operand {
	if c := e.context.Convenience; c != nil {
		if v, ok := c.Get(name); ok {
			o := e.operandOf(v)
			e.load(&o)
			o.name = name
			return o
		}
	}
	if isGDBVariable(name) {
		panic(e.failure(errorf("The console does not have $%s; \"clew debug --gdb\" does.", name)))
	}
	return operand{kind: convenienceOperand, name: name}
}

func (e *Expression) history(n *node) operand {
	if e.context.History == nil {
		return operand{kind: voidOperand}
	}
	v, err := e.context.History(n.index, n.relative)
	e.check(err)
	return e.operandOf(v)
}
