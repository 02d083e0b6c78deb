// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
)

// Expression is a compiled expression. It may be evaluated any number of times, by one goroutine at
// a time.
type Expression struct {
	tree    *node
	context *Context
	basics  basics

	frame    value.Frame // of the current evaluation; nil if only types are needed
	dry      bool        // only types are needed, as for sizeof and Type: do not read or change anything
	scratch  []byte      // buffer for reading
	pointers map[*value.Type]*value.Type
	fields   map[fieldKey]fieldPlace
}

// basics are the types of results.
type basics struct {
	void                                        *value.Type
	int, uint, long, ulong, longlong, ulonglong basic
	untyped                                     basic // the target of an integer that is dereferenced
}

type basic struct {
	typ  *value.Type
	form form
}

func (b basic) scalar(bits uint64) operand {
	return operand{kind: scalarOperand, typ: b.typ, form: b.form, bits: bits}
}

// Compile parses an expression. The error is a *Error. It is an error if the text is longer than 64
// KiB or nested more than 500 levels deep.
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
	base := func(name string) basic {
		t := value.Base(m, name)
		return basic{t, formOf(t)}
	}
	return basics{
		void: value.Base(m, "void"), int: base("int"), uint: base("unsigned int"), long: base("long"), ulong: base("unsigned long"),
		longlong: base("long long"), ulonglong: base("unsigned long long"), untyped: base("long"),
	}
}

// Evaluate evaluates the expression in a frame of the Context's object at its Address. If the
// expression names an object, the value is that object: its bytes are read when they are needed,
// and it can be assigned to. Assignments in the expression need a frame that is a value.Writer. The
// error is a *Error.
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

// True evaluates the expression as a condition and reports whether it is not 0.
func (e *Expression) True(f value.Frame) (bool, error) {
	e.frame, e.dry = f, false
	yes, err := e.truth(e.tree)
	if err != nil {
		return false, at(err, e.tree.column)
	}
	return yes, nil
}

// IsType reports whether the expression is the name of a type, as for gdb's ptype. It then has a
// Type and no value.
func (e *Expression) IsType() bool { return e.tree.op == typeOf }

// IsCall reports whether the expression as a whole is the call of a function.
func (e *Expression) IsCall() bool { return e.tree.op == callOf }

// Type returns the type of the expression without evaluating it: nothing is read or changed, except
// that convenience variables and the history are read, whose types change. The error is a *Error
// that occurs in every frame.
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

// result returns an operand as a value.
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

// typeOfNode returns the type of a parsed part of an expression, for typeof.
func typeOfNode(n *node, names names) (*value.Type, error) {
	c, ok := names.(*Context)
	if !ok {
		return nil, errorf("typeof needs a context")
	}
	return newExpression(n, c).Type()
}

// Assign assigns a value to another one, converted as by C's =, through the frame of target. The
// error is a *Error.
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
