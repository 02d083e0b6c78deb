// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
)

// Expression is an expression whose names have their meanings. It may be
// evaluated as often as wanted, by one goroutine at a time.
type Expression struct {
	tree    *node
	context *Context
	basics  basics

	frame    value.Frame // of the evaluation that runs; nil when only types are asked for
	dry      bool        // nothing is read or changed: sizeof, Type
	scratch  []byte      // memory is read into it
	pointers map[*value.Type]*value.Type
	fields   map[fieldKey]fieldPlace
}

// basics are the types that arithmetic makes.
type basics struct {
	void                                        *value.Type
	int, uint, long, ulong, longlong, ulonglong basic
	char                                        *value.Type
	untyped                                     basic // what * makes of an integer
}

type basic struct {
	typ  *value.Type
	form form
}

// Compile reads an expression. The error is a *Error. Text that is longer than 64
// KiB, or nested more than 500 levels deep, is one too.
func Compile(text string, c *Context) (*Expression, error) {
	tree, err := parse(text, c)
	if err != nil {
		return nil, err
	}
	return newExpression(tree, c), nil
}

func newExpression(tree *node, c *Context) *Expression {
	return &Expression{tree: tree, context: c, basics: basicsOf(c.Machine), scratch: make([]byte, 16),
		pointers: make(map[*value.Type]*value.Type), fields: make(map[fieldKey]fieldPlace)}
}

func basicsOf(m *arch.Machine) basics {
	make := func(name string) basic {
		t := value.Base(m, name)
		return basic{t, formOf(t)}
	}
	return basics{
		void: value.Base(m, "void"), char: value.Base(m, "char"),
		int: make("int"), uint: make("unsigned int"), long: make("long"), ulong: make("unsigned long"),
		longlong: make("long long"), ulonglong: make("unsigned long long"), untyped: make("long"),
	}
}

// Evaluate evaluates the expression in a frame, whose object and place are those
// of the Context. Of an expression that names an object the value is that object:
// it is not read before its bytes are asked for, and can be assigned to. Assignments
// in the expression need a frame that is a value.Writer. The error is a *Error.
func (e *Expression) Evaluate(f value.Frame) (value.Value, error) {
	e.frame, e.dry = f, false
	o, err := e.evaluate(e.tree)
	if err != nil {
		return value.Value{}, at(err, e.tree.column)
	}
	v, err := e.result(&o)
	if err != nil {
		return value.Value{}, at(err, e.tree.column)
	}
	return v, nil
}

// True evaluates the expression as a condition: whether it is not 0.
func (e *Expression) True(f value.Frame) (bool, error) {
	e.frame, e.dry = f, false
	yes, err := e.truth(e.tree)
	if err != nil {
		return false, at(err, e.tree.column)
	}
	return yes, nil
}

// IsType reports whether the expression is the name of a type, as for gdb's
// ptype. It has then a Type and no value.
func (e *Expression) IsType() bool { return e.tree.op == typeOf }

// IsCall reports whether the expression as a whole is the call of a function.
func (e *Expression) IsCall() bool { return e.tree.op == callOf }

// Type returns the type that the expression has, without evaluating it: nothing
// is read or changed. Only convenience variables and the history, whose types
// change, are asked. The error is a *Error: it says what would be wrong whatever
// the frame.
func (e *Expression) Type() (*value.Type, error) {
	if e.IsType() {
		return e.tree.typ, nil
	}
	e.frame, e.dry = nil, true
	o, err := e.evaluate(e.tree)
	if err == nil && o.kind == registerOperand {
		err = e.load(&o)
	}
	switch {
	case err != nil:
		return nil, at(err, e.tree.column)
	case o.kind == symbolOperand:
		return nil, at(unknownType(o.name), e.tree.column)
	case o.typ == nil:
		return e.basics.void, nil
	}
	return o.typ, nil
}

func unknownType(name string) error {
	return errorf("'%s' has unknown type; cast it to its declared type", name)
}

// result makes a value of an operand.
func (e *Expression) result(o *operand) (value.Value, error) {
	switch o.kind {
	case valueOperand:
		return o.held(), nil
	case memoryOperand:
		return value.At(o.typ, o.bits, e.frame), nil
	case symbolOperand:
		return value.Value{}, unknownType(o.name)
	case voidOperand, convenienceOperand:
		return value.Constant(e.basics.void, nil, e.frame), nil
	case registerOperand:
		if err := e.load(o); err != nil {
			return value.Value{}, err
		}
		return e.result(o)
	}
	return value.Constant(o.typ, o.encode(nil, e.context.Machine), e.frame), nil
}

// typeOfNode returns the type of a part that was parsed, for typeof.
func typeOfNode(n *node, names names) (*value.Type, error) {
	c, ok := names.(*Context)
	if !ok {
		return nil, errorf("typeof needs a context")
	}
	return newExpression(n, c).Type()
}

// Assign assigns a value to another one, converted as by C's =, and writes it
// through the frame of target. The error is a *Error.
func Assign(target, source value.Value) error {
	m := target.Type().Machine()
	e := newExpression(nil, &Context{Machine: m})
	e.frame = target.Frame()
	to, from := e.operandOf(target), e.operandOf(source)
	_, err := e.assign(&to, &from)
	if err != nil {
		return at(err, 1)
	}
	return nil
}
