// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"errors"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/spelling"
)

type fieldKey struct {
	typ  *value.Type
	name string
}

// fieldPlace is the place of a member in its structure.
type fieldPlace struct {
	found  bool
	plain  bool // at offset, in whole bytes
	typ    *value.Type
	form   form
	offset uint64

	class     *value.Type // that declares it
	ambiguous bool        // other base classes have one too
}

// member evaluates x.name and x->name. As in gdb both mean the same unless the class of x has an operator->.
func (e *Expression) member(n *node) operand {
	x := e.evaluate(n.x)
	if !e.followSynthetic(&x) && (x.form.kind == value.Pointer || x.kind == registerOperand || x.isReference()) {
		e.rvalue(&x)
	}
	if n.op == arrow {
		e.refuseOperator(&x, "operator->") // of a class that has one; gdb takes -> of others for a dot
	}
	if x.form.kind == value.Pointer && x.typ.Strip().Elem().Strip().Kind() != value.Void {
		x = e.dereference(&x)
	}
	for depth := 0; x.form.kind == value.Pointer && x.typ.Strip().Language() == value.Rust && depth < maxBases; depth++ {
		e.rvalue(&x) // Rust follows all pointers
		x = e.dereference(&x)
	}
	if !x.form.isAggregate() {
		if x.kind == symbolOperand {
			panic(e.failure(unknownType(x.name)))
		}
		if n.op == arrow {
			panic(e.failure(errorf("Attempt to extract a component of a value that is not a structure pointer.")))
		}
		panic(e.failure(errorf("Attempt to extract a component of a value that is not a structure.")))
	}
	if len(n.scope) > 0 {
		x = e.inBase(&x, strings.Join(n.scope, "::"))
	}
	field := e.field(x.typ, n.text)
	switch {
	case !field.found && hasMethod(x.typ, n.text):
		panic(e.failure(errorf("%s is a method: the console calls methods, as in x.%[1]s(), and does not print them; \"clew debug --gdb\" does.", n.text)))
	case !field.found && x.typ.Strip().HasVariants():
		return e.variantField(&x, n.text)
	case !field.found:
		panic(e.failure(errorf("There is no member named %s.", strings.TrimPrefix(n.text, rustTuple))))
	case field.ambiguous:
		panic(e.failure(errorf("Request for member '%s' is ambiguous in type '%s'; name a base class, as in x.base::%[1]s.", n.text, x.typ)))
	case field.plain && x.kind == memoryOperand:
		return operand{kind: memoryOperand, typ: field.typ, form: field.form, bits: x.bits + field.offset}
	case e.dry:
		return operand{kind: valueOperand, typ: field.typ, form: field.form}
	}
	v := x.held()
	if x.kind == memoryOperand {
		v = value.At(x.typ, x.bits, e.frame)
	}
	member := v.FieldByName(n.text)
	if errors.Is(member.Err(), value.ErrNotFound) { // a static member without an object
		return held(field.typ, value.Lost(field.typ, e.frame))
	}
	return e.checked(member)
}

// rustTuple begins the names of the members of Rust's tuples.
const rustTuple = "__"

// variantField returns a field of the active variant of an enum of Rust.
func (e *Expression) variantField(x *operand, name string) operand {
	source := strings.TrimPrefix(name, rustTuple)
	if e.dry {
		panic(e.failure(errorf("The type of field %s depends on the variant.", source)))
	}
	v := x.held()
	if x.kind == memoryOperand {
		v = value.At(x.typ, x.bits, e.frame)
	}
	variant, form, ok := v.Variant()
	switch {
	case !ok:
		panic(e.failure(errorf("The variant of %s is not known.", x.typ)))
	case !findField(form.Type(), name).found:
		panic(e.failure(errorf("Variant %s of %s has no field %s.", variant, x.typ, source)))
	}
	return e.checked(form.FieldByName(name))
}

// inBase returns the object of a base class with a name in an object, or the object itself if
// its class has the name.
func (e *Expression) inBase(o *operand, class string) operand {
	v := o.held()
	if o.kind == memoryOperand {
		v = value.At(o.typ, o.bits, e.frame)
	}
	if found, ok := baseNamed(v, class, 0); ok {
		return e.checked(found)
	}
	panic(e.failure(errorf("base class '%s' is ambiguous or not a base of '%s'", class, o.typ)))
}

func baseNamed(v value.Value, class string, depth int) (value.Value, bool) {
	t := v.Type().Strip()
	if t.Name() == class || spelling.Last(t.Name()) == class {
		return v, true
	}
	if depth < maxBases {
		for k, f := range t.Fields() {
			if !f.Base {
				continue
			}
			if found, ok := baseNamed(v.Field(k), class, depth+1); ok {
				return found, true
			}
		}
	}
	return value.Value{}, false
}

// field returns a member, also of anonymous members and base classes. It caches the result.
func (e *Expression) field(t *value.Type, name string) fieldPlace {
	key := fieldKey{t, name}
	place, ok := e.fields[key]
	if !ok {
		place = findField(t, name)
		e.fields[key] = place
	}
	return place
}

// maxSearched bounds the number of types that are searched for a member: in damaged debugging
// information a type can contain itself.
const maxSearched = 1000

func findField(t *value.Type, name string) fieldPlace {
	left := maxSearched
	return findFieldIn(t, name, &left)
}

func findFieldIn(t *value.Type, name string, left *int) fieldPlace {
	if *left--; *left < 0 {
		return fieldPlace{}
	}
	fields := t.Strip().Fields()
	for _, f := range fields {
		if f.Name == name && !f.Base {
			return fieldPlace{found: true, plain: f.BitSize == 0 && f.Static == nil, typ: f.Type, form: formOf(f.Type), offset: f.Offset, class: t.Strip()}
		}
	}
	var first fieldPlace
	for _, f := range fields {
		if f.Name != "" && !f.Base {
			continue
		}
		inner := findFieldIn(f.Type, name, left)
		inner.offset += f.Offset
		inner.plain = inner.plain && !f.Virtual
		switch {
		case !inner.found:
		case !first.found:
			first = inner
		case inner.plain || first.plain || !inner.class.Equal(first.class): // not of one virtual base
			first.ambiguous = true
		}
	}
	return first
}
