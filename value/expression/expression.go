// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"cmp"

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
	sizing   bool        // in the operand of sizeof
	column   int         // of the node that is being evaluated
	scratch  []byte      // buffer for reading
	pointers map[*value.Type]*value.Type
	fields   map[fieldKey]fieldPlace
}

// basics are the types of results.
type basics struct {
	void                                        *value.Type
	truth                                       basic // the type of comparisons: int, or bool of C++ and Rust
	int, uint, long, ulong, longlong, ulonglong basic
	rust                                        bool  // the language
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
	b := basicsOf(c.Machine)
	if l := c.language(); l == value.CPlusPlus || l == value.Rust {
		b.truth = basic{truthType(c.Machine, l), form{kind: value.Bool, size: 1}}
	}
	b.rust = c.language() == value.Rust
	return &Expression{tree: tree, context: c, basics: b, scratch: make([]byte, 16),
		pointers: make(map[*value.Type]*value.Type), fields: make(map[fieldKey]fieldPlace)}
}

func basicsOf(m *arch.Machine) basics {
	base := func(name string) basic {
		t := value.Base(m, name)
		return basic{t, formOf(t)}
	}
	return basics{
		truth: base("int"), void: value.Base(m, "void"), int: base("int"), uint: base("unsigned int"), long: base("long"), ulong: base("unsigned long"),
		longlong: base("long long"), ulonglong: base("unsigned long long"), untyped: base("long"),
	}
}

// Evaluate evaluates the expression in a frame of the Context's object at its Address. If the
// expression names an object, the value is that object: its bytes are read when they are needed,
// and it can be assigned to. Assignments in the expression need a frame that is a value.Writer. The
// error is a *Error.
func (e *Expression) Evaluate(f value.Frame) (v value.Value, err error) {
	defer catch(&err)
	e.start(f, false)
	o := e.evaluate(e.tree)
	return e.result(&o), nil
}

// failure is the panic value for an error in an evaluation. The exported functions recover it.
type failure struct{ err error }

// failure returns a failure at the node that is being evaluated.
func (e *Expression) failure(err error) failure { return failure{at(err, e.column)} }

// check panics if err is not nil.
func (e *Expression) check(err error) {
	if err != nil {
		panic(e.failure(err))
	}
}

// catch recovers a failure. It must be deferred.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.err
	default:
		panic(r)
	}
}

func (e *Expression) start(f value.Frame, dry bool) {
	e.frame, e.dry, e.sizing, e.column = f, dry, false, e.tree.column
}

// True evaluates the expression as a condition and reports whether it is not 0.
func (e *Expression) True(f value.Frame) (yes bool, err error) {
	defer catch(&err)
	e.start(f, false)
	return e.truth(e.tree), nil
}

// IsType reports whether the expression is the name of a type, as for gdb's ptype. It then has a
// Type and no value.
func (e *Expression) IsType() bool { return e.tree.op == typeOf }

// IsCall reports whether the expression as a whole is the call of a function.
func (e *Expression) IsCall() bool { return e.tree.op == callOf }

// IsAssignment reports whether the expression as a whole assigns: x = 5, x += 1, x++, or several with commas.
func (e *Expression) IsAssignment() bool {
	return e.tree.op == comma || e.tree.op.assigns()
}

func (op operator) assigns() bool {
	switch op {
	case preIncrement, preDecrement, postIncrement, postDecrement:
		return true
	}
	return op >= assign && op <= assignXor
}

// HasCall reports whether the evaluation of the expression can call a function.
func (e *Expression) HasCall() bool {
	return e.tree.has(func(op operator) bool { return op == callOf })
}

// HasEffects reports whether the evaluation of the expression can call a function or assign.
func (e *Expression) HasEffects() bool {
	return e.tree.has(func(op operator) bool { return op == callOf || op.assigns() })
}

// has reports whether the evaluation of a node can execute an operator that matches.
func (n *node) has(match func(operator) bool) bool {
	if n == nil || n.op == sizeOf || n.op == alignOf {
		return false
	}
	return match(n.op) || n.x.has(match) || n.y.has(match) || n.z.has(match)
}

// Type returns the type of the expression without evaluating it: nothing is changed, and nothing is
// read except convenience variables and the history, because their types change. The error is a
// *Error that occurs in every frame.
func (e *Expression) Type() (t *value.Type, err error) {
	if e.IsType() {
		return e.tree.typ, nil
	}
	defer catch(&err)
	e.start(nil, true)
	o := e.evaluate(e.tree)
	switch o.kind {
	case registerOperand, symbolOperand:
		e.load(&o)
	}
	// As in gdb, the address of a variable has the type that is declared.
	ofVariable := e.tree.op == variableOf || e.tree.op == addressOf && e.tree.x.op == variableOf
	if o.typ != nil && (o.typ.Dynamic() || !ofVariable && o.form.kind == value.Pointer && o.typ.Strip().Elem().Dynamic()) {
		panic(e.failure(errorf("The type depends on the frame.")))
	}
	return cmp.Or(o.typ, e.basics.void), nil
}

func unknownType(name string) error {
	return errorf("'%s' has unknown type; cast it to its declared type", name)
}

// result returns an operand as a value.
func (e *Expression) result(o *operand) value.Value {
	switch o.kind {
	case valueOperand:
		return o.held()
	case memoryOperand:
		return value.At(o.typ, o.bits, e.frame)
	case symbolOperand:
		panic(e.failure(unknownType(o.name)))
	case voidOperand, convenienceOperand:
		return value.Constant(e.basics.void, nil, e.frame)
	case registerOperand:
		e.load(o)
		return e.result(o)
	}
	return value.Constant(o.typ, o.encode(nil, e.context.Machine), e.frame)
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
func Assign(target, source value.Value) (err error) {
	defer catch(&err)
	e := newExpression(&node{column: 1}, &Context{Machine: target.Type().Machine()})
	e.start(target.Frame(), false)
	to, from := e.operandOf(target), e.operandOf(source)
	e.assign(&to, &from)
	return nil
}
