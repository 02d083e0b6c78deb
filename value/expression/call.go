// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"slices"
	"strings"

	"github.com/clewdev/clew/value"
)

// call evaluates the arguments of a call, converts them to the function's parameters, and passes
// the call to the Context.
func (e *Expression) call(n *node) operand {
	f, arguments := e.parts(n)
	switch {
	case e.dry:
		t := f.typ.Strip().Elem()
		return operand{kind: valueOperand, typ: t, form: formOf(t)}
	case e.context.Call == nil:
		panic(e.failure(errorf("cannot call functions here")))
	}
	v, err := e.context.Call(e.frame, value.At(f.typ, f.bits, e.frame), arguments)
	e.check(err)
	return e.checked(v)
}

// Call evaluates the function and the arguments of an expression that as a whole is a call, without
// calling it. For other expressions ok is false, and nothing is evaluated. The error is a *Error.
func (e *Expression) Call(f value.Frame) (function value.Value, arguments []value.Value, ok bool, err error) {
	if e.tree.op != callOf {
		return value.Value{}, nil, false, nil
	}
	defer catch(&err)
	e.start(f, false)
	ok = true
	fn, arguments := e.parts(e.tree)
	return value.At(fn.typ, fn.bits, f), arguments, true, nil
}

// parts evaluates the function and the arguments of a call. If only types are needed, the arguments
// are zero Values.
func (e *Expression) parts(n *node) (f operand, arguments []value.Value) {
	operands := make([]operand, len(n.arguments))
	for i, a := range n.arguments {
		operands[i] = e.evaluate(a)
	}
	f, this := e.callee(n, operands)
	hidden := 0
	if this != nil {
		hidden, operands = 1, append([]operand{*this}, operands...)
	}
	t := f.typ.Strip()
	parameters := t.Params()
	switch {
	case len(operands) < len(parameters):
		panic(e.failure(errorf("Too few arguments in function call.")))
	case len(operands) > len(parameters) && !t.Variadic() && len(parameters) > 0:
		panic(e.failure(errorf("Too many arguments in function call.")))
	}
	arguments = make([]value.Value, len(operands))
	for i := range operands {
		o := &operands[i]
		if e.column = n.column; i >= hidden {
			e.column = n.arguments[i-hidden].column
		}
		isString := o.isString() // the Context allocates it
		switch {
		case i < len(parameters) && isString && formOf(parameters[i]).kind == value.Pointer:
		case i < len(parameters) && isReference(parameters[i]):
			*o = e.bound(o, parameters[i])
		case i < len(parameters):
			if i >= hidden {
				e.requireConversion(o, parameters[i])
			}
			*o = e.cast(o, parameters[i])
		case !isString:
			e.promoted(o)
		}
		if !e.dry {
			arguments[i] = e.result(o)
		}
	}
	e.column = n.column
	return f, arguments
}

// isString reports whether an operand is a string constant.
func (o *operand) isString() bool { return o.kind == valueOperand && o.form.kind == value.Array }

// promoted converts an argument without a parameter (C11 §6.5.2.2 p6).
func (e *Expression) promoted(o *operand) {
	e.rvalue(o)
	switch {
	case o.kind != scalarOperand:
	case o.form.kind == value.Float && o.form.size < 8:
		*o = e.cast(o, value.Base(e.context.Machine, "double"))
	case o.form.isInteger() && o.form.size < e.basics.int.form.size:
		*o = e.cast(o, e.basics.int.typ)
	}
}

func isReference(t *value.Type) bool {
	kind := t.Strip().Kind()
	return kind == value.Reference || kind == value.RvalueReference
}

// bound returns the argument for a reference parameter: the address of the object, or of its base
// class.
func (e *Expression) bound(o *operand, parameter *value.Type) operand {
	e.follow(o)
	to := parameter.Strip().Elem().Strip()
	if o.kind == registerOperand {
		panic(e.failure(errNoAddress))
	}
	if o.typ == nil || o.typ.Strip().Equal(to) {
		return e.referred(o)
	}
	if !isBase(o.typ.Strip(), to) {
		if !o.form.isAggregate() && !formOf(to).isAggregate() {
			panic(e.failure(errNoAddress)) // of the temporary object
		}
		panic(e.failure(errorf("The type of the argument is %s; the parameter is a reference to %s.", o.typ, to)))
	}
	if e.dry {
		return e.pointer(to, 0)
	}
	base, _ := e.baseOf(e.asValue(o), to)
	address, ok := base.Address()
	if !ok {
		panic(e.failure(errNoAddress))
	}
	return e.pointer(to, address)
}

// requireConversion fails if an argument has no conversion to the type of its parameter that the
// console could pass.
func (e *Expression) requireConversion(o *operand, parameter *value.Type) {
	to, language := parameter.Strip(), e.context.language()
	if o.typ == nil {
		return
	}
	switch {
	case o.form.isScalar() && to.Kind() == value.Int && to.Size() > 8:
		panic(e.failure(errorf("%s cannot be passed: it has more than 8 bytes", parameter)))
	case (language == value.CPlusPlus || language == value.Rust) && to.Kind() == value.Pointer && conversion(o, parameter) < 0:
		panic(e.failure(errorf("The type of the argument is %s, that of the parameter %s; cast the argument.", o.typ, parameter)))
	case o.form.isAggregate() && !o.isReference() && !formOf(parameter).isAggregate():
		panic(e.failure(errorf("The type of the argument is %s, that of the parameter %s.", o.typ, parameter)))
	}
}

// referred returns the argument for a reference parameter: the address of an object.
func (e *Expression) referred(o *operand) operand {
	if o.typ == nil || isReference(o.typ) {
		return *o
	}
	if o.kind == valueOperand && !e.dry {
		if address, ok := o.held().Address(); ok { // in another object file
			return e.pointer(o.typ, address)
		}
	}
	if o.kind != memoryOperand {
		panic(e.failure(errNoAddress))
	}
	return e.pointer(o.typ, o.bits)
}

// callee evaluates the called function. It chooses the overloaded function that the arguments fit
// best. A pointer is dereferenced. For a method that is not static, this is the address of its
// object.
func (e *Expression) callee(n *node, arguments []operand) (f operand, this *operand) {
	if l := e.context.language(); (n.x.op == dot || n.x.op == arrow) && (l == value.CPlusPlus && e.isMethodOf(n.x) || l == value.Rust) {
		if f, this, ok := e.methodOf(n.x, arguments); ok {
			return f, this
		}
	}
	if n.x.op == variableOf && n.x.symbol.function != nil && len(n.x.symbol.others) > 0 {
		s := *n.x.symbol
		s.function, s.others, s.chosen = e.overload(n.x.symbol, arguments), nil, true
		return e.variable(&s), nil
	}
	f = e.evaluate(n.x)
	if f.form.kind == value.Pointer {
		e.load(&f)
		f = e.dereference(&f)
	}
	if f.form.kind != value.Func || f.kind != memoryOperand {
		panic(e.failure(errorf("This is not a function; cast its address to a pointer to a function to call it.")))
	}
	return f, nil
}

// overload selects the function that no argument fits worse than any other, and one argument fits
// better (C++17 [over.match.best]). If there is none, the error contains all functions.
func (e *Expression) overload(s *symbol, arguments []operand) *value.Function {
	all := append([]*value.Function{s.function}, s.others...)
	signatures := make([]signature, len(all))
	for k, fn := range all {
		signatures[k] = signature{fn.Name, fn.Type.Params(), fn.Type.Variadic()}
	}
	return all[e.selected("function", signatures, arguments)]
}

// signature is the name of a function or method, and the types of its parameters.
type signature struct {
	name       string
	parameters []*value.Type
	isVariadic bool
}

func (s signature) String() string {
	var parameters []string
	for _, p := range s.parameters {
		parameters = append(parameters, p.String())
	}
	if s.isVariadic {
		parameters = append(parameters, "...")
	}
	return s.name + "(" + strings.Join(parameters, ", ") + ")"
}

// selected returns the index of the signature that is best. If there is none, the error contains all
// of them.
func (e *Expression) selected(what string, signatures []signature, arguments []operand) int {
	if k := best(signatures, arguments); k >= 0 {
		return k
	}
	var texts []string
	for _, s := range signatures {
		texts = append(texts, s.String())
	}
	panic(e.failure(errorf("The arguments do not select one %s; there are %s. Cast an argument, as in (double)1.", what, strings.Join(texts, " and "))))
}

// best returns the index of the signature that no argument fits worse than any other, and one
// argument fits better, or -1.
func best(signatures []signature, arguments []operand) int {
	costs := make([][]int, len(signatures)) // nil if the arguments do not fit
	for k, s := range signatures {
		if len(s.parameters) > len(arguments) || len(s.parameters) < len(arguments) && !s.isVariadic {
			continue
		}
		list := []int{}
		for i, p := range s.parameters {
			cost, added := conversion(&arguments[i], p), qualification(&arguments[i], p)
			if cost >= 0 && added >= 0 {
				list = append(list, 2*cost+added)
			}
		}
		if len(list) == len(s.parameters) {
			costs[k] = list
		}
	}
	better := func(a, b []int) bool {
		isBetter := false
		for i := range min(len(a), len(b)) {
			if a[i] > b[i] {
				return false
			}
			isBetter = isBetter || a[i] < b[i]
		}
		return isBetter
	}
	for i := range costs {
		isBest := costs[i] != nil
		for j := range costs {
			isBest = isBest && (i == j || costs[j] == nil || better(costs[i], costs[j]))
		}
		if isBest {
			return i
		}
	}
	return -1
}

// overloaded reports whether the name of a function of C++ that is not called means several.
func (e *Expression) overloaded(s *symbol) bool {
	if s.chosen || s.function.Language != value.CPlusPlus {
		return false
	}
	differs := func(f *value.Function) bool { return f.LinkageName != s.function.LinkageName }
	return slices.ContainsFunc(s.others, differs) || slices.ContainsFunc(e.context.objects(), func(o objectFile) bool {
		return slices.ContainsFunc(o.functions(s.name), differs)
	})
}

// qualification returns 1 if a parameter adds const to the target of an argument, -1 if it removes
// const, else 0 (C++17 [conv.qual]).
func qualification(o *operand, parameter *value.Type) int {
	from, to := o.typ, parameter.Strip()
	switch {
	case from == nil:
		return 0
	case isReference(to):
		if isReference(from) {
			from = from.Strip().Elem()
		}
	case to.Kind() == value.Pointer:
		if isReference(from) {
			from = from.Strip().Elem()
		}
		if from = from.Strip(); from.Kind() != value.Pointer && from.Kind() != value.Array {
			return 0
		}
		if o.isString() {
			if isConstant(to.Elem()) {
				return 0
			}
			return -1
		}
		from = from.Elem()
	default:
		return 0
	}
	switch a, b := isConstant(from), isConstant(to.Elem()); {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}

// conversion returns the cost of passing an argument as a parameter: 0 for the same type, 1 for a
// promotion, 2 for another conversion, 3 for one to void *, -1 if none is possible.
func conversion(o *operand, parameter *value.Type) int {
	from := o.typ
	if from == nil {
		return 2 // a register, or data without a type
	}
	from = from.Strip()
	to := parameter.Strip()
	if isReference(from) {
		from = from.Elem().Strip()
	}
	if isReference(to) {
		to = to.Elem().Strip()
	}
	if from.Kind() == value.Array && to.Kind() == value.Pointer {
		from = value.PointerTo(from.Elem())
	}
	a, b := formOf(from), formOf(to)
	switch {
	case from.Equal(to):
		return 0
	case a.kind == value.Pointer && b.kind == value.Pointer:
		switch x, y := from.Elem().Strip(), to.Elem().Strip(); {
		case x.Equal(y):
			return 0
		case isBase(x, y):
			return 2
		case y.Kind() == value.Void:
			return 3
		}
		return -1
	case isReference(parameter) && isBase(from, to):
		return 2
	case a.kind == value.Func && b.kind == value.Pointer:
		if from.Equal(to.Elem().Strip()) {
			return 0
		}
		return -1
	case a.isInteger() && b.kind == value.Pointer && o.kind == scalarOperand && o.bits == 0:
		return 2 // NULL
	case a.isInteger() && b.isInteger():
		if b.kind == value.Int && b.size == 4 && b.signed && a.size < 4 {
			return 1
		}
		return 2
	case a.kind == value.Float && b.kind == value.Float:
		if a.size == 4 && b.size == 8 {
			return 1
		}
		return 2
	case a.isInteger() && b.kind == value.Float, a.kind == value.Float && b.isInteger():
		return 2
	}
	return -1
}

// isBase reports whether a class is derived from another one.
func isBase(class, base *value.Type) bool {
	s, ok := findBase(class, base)
	return ok && len(s.path) > 0
}
