// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/value"
)

// methodOf returns the method that x.name(arguments) or x->name(arguments) calls, and the address of
// its object, which is nil for a static method. ok is false if name is not a method of x.
func (e *Expression) methodOf(n *node, arguments []operand) (f operand, this *operand, ok bool) {
	isRust := e.context.language() == value.Rust
	x := e.evaluate(n.x)
	if x.form.kind == value.Pointer || x.kind == registerOperand || x.isReference() {
		e.rvalue(&x)
	}
	for depth := 0; x.form.kind == value.Pointer && x.typ.Strip().Elem().Strip().Kind() != value.Void && (depth == 0 || isRust && depth < maxBases); depth++ {
		e.rvalue(&x)
		x = e.dereference(&x)
	}
	if isRust {
		return e.rustMethod(n, x)
	}
	if !x.form.isAggregate() || !hasMethod(x.typ, n.text) {
		return f, nil, false
	}
	if n.op == arrow {
		e.refuseOperator(&x, "operator->")
	}
	isScoped := len(n.scope) > 0 // x.base::name() is not a virtual call
	if isScoped {
		x = e.inBase(&x, strings.Join(n.scope, "::"))
	}
	for depth := 0; ; depth++ {
		methods, isTemplate := methodsNamed(x.typ, n.text)
		fields := x.typ.Strip().Fields()
		k := slices.IndexFunc(fields, func(f value.Field) bool { return f.Base && hasMethod(f.Type, n.text) })
		if len(methods) > 0 {
			m := e.overloadedMethod(x.typ, methods, arguments)
			switch {
			case isTemplate:
				e.requireExact(&m, arguments, "there is a template of the name")
			case k >= 0 && !isScoped:
				e.requireExact(&m, arguments, fmt.Sprintf("%s has a method of the name too", fields[k].Type))
			}
			return e.boundMethod(&x, &m, isScoped)
		}
		if k < 0 || depth == maxBases || findField(x.typ, n.text).plain {
			return f, nil, false
		}
		if other := slices.IndexFunc(fields[k+1:], func(f value.Field) bool { return f.Base && hasMethod(f.Type, n.text) }); other >= 0 {
			declaring, ok := onlyDeclaring(x.typ, n.text)
			if !ok {
				panic(e.failure(errorf("%s is in the bases %s and %s; name one, as in x.%[2]s::%[1]s().", n.text, fields[k].Type, fields[k+1+other].Type)))
			}
			base, _ := e.baseOf(e.asValue(&x), declaring) // a virtual base
			x = e.checked(base)
			continue
		}
		x = e.checked(e.asValue(&x).Field(k))
	}
}

// isMethodOf reports whether the class of x in x.name or x->name has a method of that name. It
// evaluates only types.
func (e *Expression) isMethodOf(n *node) bool {
	dry := e.dry
	e.dry = true
	x := e.evaluate(n.x)
	if x.form.kind == value.Pointer || x.kind == registerOperand || x.isReference() {
		e.rvalue(&x)
	}
	if x.form.kind == value.Pointer {
		x.typ = x.typ.Strip().Elem()
	}
	e.dry = dry
	return x.typ != nil && hasMethod(x.typ, n.text)
}

// onlyDeclaring returns the base class that declares a method, if it is the only one.
func onlyDeclaring(class *value.Type, name string) (declaring *value.Type, ok bool) {
	for s := range subobjects(class) {
		methods, _ := methodsNamed(s.typ, name)
		switch {
		case len(methods) == 0:
		case declaring != nil && !s.typ.Equal(declaring):
			return nil, false
		default:
			declaring = s.typ
		}
	}
	return declaring, declaring != nil
}

// asValue returns an object as a Value.
func (e *Expression) asValue(o *operand) value.Value {
	if o.kind == memoryOperand {
		return value.At(o.typ, o.bits, e.frame)
	}
	return o.held()
}

// methodsNamed returns the methods of a class with a name, without those of its bases. isTemplate
// reports that there is also a template of the name.
func methodsNamed(t *value.Type, name string) (methods []value.Method, isTemplate bool) {
	members, _ := t.Members() // those that cannot be read are not found
	for _, m := range members.Methods {
		if m.Name == name {
			methods = append(methods, m)
		}
		isTemplate = isTemplate || strings.HasPrefix(m.Name, name+"<")
	}
	return methods, isTemplate
}

// requireExact fails if the arguments of a method need conversions, and C++ could therefore call
// another function: an instance of a template, or a method of a base class, which a using
// declaration can have in the class. The debugging information does not have all of these.
func (e *Expression) requireExact(m *value.Method, arguments []operand, other string) {
	for i, p := range m.Type.Params()[m.Hidden:] {
		if i < len(arguments) && conversion(&arguments[i], p) != 0 {
			panic(e.failure(errorf("The arguments of %s need conversions, and %s. Cast the arguments to the types of the parameters.", m.Name, other)))
		}
	}
}

// overloadedMethod selects the method that the arguments fit best. Of two that differ only in const
// it takes the one for the object.
func (e *Expression) overloadedMethod(class *value.Type, methods []value.Method, arguments []operand) value.Method {
	if len(methods) == 1 {
		return methods[0]
	}
	isConst := isConstant(class)
	all := slices.Clone(methods)
	methods = slices.DeleteFunc(methods, func(m value.Method) bool {
		if m.Static {
			return false
		}
		return isConst && !ofConstant(&m) || !isConst && ofConstant(&m) && slices.ContainsFunc(all, func(other value.Method) bool {
			return !other.Static && !ofConstant(&other) && slices.EqualFunc(m.Type.Params()[m.Hidden:], other.Type.Params()[other.Hidden:], (*value.Type).Equal)
		})
	})
	signatures := make([]signature, len(methods))
	for k, m := range methods {
		signatures[k] = signature{m.Name, m.Type.Params()[m.Hidden:], m.Type.Variadic()}
	}
	return methods[e.selected("method", signatures, arguments)]
}

func isConstant(t *value.Type) bool {
	for range maxBases {
		switch t.Kind() {
		case value.Const:
			return true
		case value.Volatile, value.Typedef:
			t = t.Elem()
		default:
			return false
		}
	}
	return false
}

// ofConstant reports whether a method is const.
func ofConstant(m *value.Method) bool {
	this := m.Type.Params()[0].Strip()
	return this.Kind() == value.Pointer && isConstant(this.Elem())
}

// errInlined is gdb's error.
var errInlined = &Error{Message: "Cannot evaluate function -- may be inlined"}

// boundMethod returns the code of a method for an object. A virtual method is looked up in the table
// of the object's class, as the program does.
func (e *Expression) boundMethod(x *operand, m *value.Method, isScoped bool) (f operand, this *operand, ok bool) {
	if m.Hidden > 1 {
		panic(e.failure(errorf("%s has parameters that the console does not pass; \"clew debug --gdb\" does.", m.Name)))
	}
	if !m.Static {
		address := e.addressFor(x)
		this = &address
	}
	if m.Virtual && !isScoped && !e.dry {
		var table, code uint64
		table = e.word(this.bits)
		code = e.word(table + m.Place*uint64(e.context.Machine.AddressSize))
		return operand{kind: memoryOperand, typ: m.Type, form: formOf(m.Type), bits: code}, this, true
	}
	for _, o := range e.context.objects() {
		functions, _ := o.info.Functions(m.Linkage) // the next object can have it
		for _, fn := range functions {
			if m.Linkage != "" && fn.HasCode {
				s := &symbol{name: fn.Name, function: fn, object: o.frame, chosen: true}
				f = e.variable(s)
				f.typ = m.Type // GCC can list the parameters of a definition in another order
				return f, this, true
			}
		}
	}
	if e.dry {
		return operand{kind: memoryOperand, typ: m.Type, form: formOf(m.Type)}, this, true
	}
	panic(e.failure(errInlined))
}

// addressFor returns the address of the object of a call.
func (e *Expression) addressFor(x *operand) operand {
	if e.dry {
		return e.pointer(x.typ, 0)
	}
	return e.referred(x)
}

// word reads a pointer in memory.
func (e *Expression) word(address uint64) uint64 {
	v := value.At(value.PointerTo(e.basics.void), address, e.frame)
	n, err := v.Uint()
	e.check(err)
	return n
}

// rustMethod is methodOf for Rust. As in gdb, it is the function whose name is that of the type and
// the method.
func (e *Expression) rustMethod(n *node, x operand) (f operand, this *operand, ok bool) {
	if x.typ == nil {
		return f, nil, false
	}
	t := x.typ.Strip()
	if !x.form.isAggregate() && x.form.kind != value.Enum {
		panic(e.failure(errorf("Method calls only supported on struct or enum types")))
	}
	name := t.Name() + "::" + n.text
	for _, o := range e.context.objects() {
		functions := o.functions(name)
		if len(functions) == 0 {
			continue
		}
		fn := functions[0]
		parameters := fn.Type.Params()
		if len(parameters) == 0 {
			panic(e.failure(errorf("Function %s takes no arguments; it is called as %[1]s().", name)))
		}
		self := parameters[0].Strip()
		switch {
		case self.Equal(t):
		case self.Kind() == value.Pointer && strings.HasPrefix(self.Name(), "&") && self.Elem().Strip().Equal(t):
			x = e.addressFor(&x)
		default:
			panic(e.failure(errorf("The type of the first parameter of %s is %s; the console passes only self, &self and &mut self.", name, self)))
		}
		return e.variable(&symbol{name: fn.Name, function: fn, object: o.frame, chosen: true}), &x, true
	}
	if findField(t, n.text).found {
		return f, nil, false
	}
	panic(e.failure(errorf("Could not find function named '%s'; it may be inlined, or a method of a trait.", name)))
}
