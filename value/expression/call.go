// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import "github.com/clewdev/clew/value"

// call evaluates the arguments of a call, converts them to the function's
// parameters, and hands the call to the Context.
func (e *Expression) call(n *node) (operand, error) {
	f, err := e.evaluate(n.x)
	if err != nil {
		return operand{}, err
	}
	if f.form.kind == value.Pointer {
		if err := e.load(&f); err != nil {
			return operand{}, err
		}
		if f, err = e.dereference(&f); err != nil {
			return operand{}, err
		}
	}
	if f.form.kind != value.Func || f.kind != memoryOperand {
		return operand{}, errorf("This is not a function; cast its address to a pointer to a function to call it.")
	}
	parameters := f.typ.Strip().Params()
	arguments := make([]value.Value, len(n.arguments))
	for i, a := range n.arguments {
		o, err := e.evaluate(a)
		if err == nil && i < len(parameters) {
			o, err = e.cast(&o, parameters[i])
		} else if err == nil {
			err = e.rvalue(&o)
		}
		if err != nil {
			return operand{}, at(err, a.column)
		}
		if e.dry {
			continue
		}
		if arguments[i], err = e.result(&o); err != nil {
			return operand{}, at(err, a.column)
		}
	}
	switch t := f.typ.Strip(); {
	case len(arguments) < len(parameters):
		return operand{}, errorf("Too few arguments in function call.")
	case len(arguments) > len(parameters) && !t.Variadic() && len(parameters) > 0:
		return operand{}, errorf("Too many arguments in function call.")
	case e.dry:
		return operand{kind: valueOperand, typ: t.Elem(), form: formOf(t.Elem())}, nil
	}
	if e.context.Call == nil {
		return operand{}, errorf("cannot call functions here")
	}
	v, err := e.context.Call(e.frame, value.At(f.typ, f.bits, e.frame), arguments)
	if err != nil {
		return operand{}, err
	}
	return e.checked(v)
}
