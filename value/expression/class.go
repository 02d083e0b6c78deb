// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"slices"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/spelling"
)

// this returns the variable this if a name means a member of its class, and not a local variable,
// else nil.
func (c *Context) this(name string, isCall bool) *symbol {
	if name == "this" || c.local(name) != nil {
		return nil
	}
	this := c.local("this")
	if this == nil {
		return nil
	}
	class := this.variable.Type.Strip()
	if class.Kind() != value.Pointer || !findField(class.Elem(), name).found && !(isCall && hasMethod(class.Elem(), name)) {
		return nil
	}
	return this
}

// template reports whether an object has an instance of a template with a name.
func (c *Context) template(name string) bool {
	return slices.ContainsFunc(c.objects(), func(o objectFile) bool { return o.info.HasInstance(name, o.address) })
}

// classMember returns a static member or function of a class, or nil.
func (c *Context) classMember(class, name string) *symbol {
	for _, o := range c.objects() {
		if s := o.symbol(class + "::" + name); s != nil {
			return s
		}
	}
	return nil
}

// meaning returns the meaning of a name in a scope. The constructors of a class have its name too:
// as a scope it means the class.
func (p *parser) meaning(scope, name string) (*symbol, error) {
	if first, _, _ := strings.Cut(scope, "::"); (first == "self" || first == "super" || first == "crate") && p.names.language() == value.Rust {
		return nil, errorf("The console does not have %s::; \"clew debug --gdb\" does.", first)
	}
	s, err := p.names.symbol(scope, name)
	if err != nil && scope != "" && scope != "::" {
		if member := p.names.classMember(scope, name); member != nil {
			return member, nil
		}
		class, failed := p.names.typeNamed("", scope)
		if failed != nil || !isClass(class) {
			return s, err
		}
		if member := p.names.classMember(class.Strip().Name(), name); member != nil { // the whole name of the class
			return member, nil
		}
		if findField(class, name).found || hasMethod(class, name) {
			return nil, errorf("%s::%s is a member: %s", scope, name, noMemberPointers)
		}
	}
	return s, err
}

// noMemberPointers ends the errors for pointers to members.
const noMemberPointers = "the console does not use pointers to members; \"clew debug --gdb\" does."

// isMethod reports whether a function has a parameter this.
func (e *Expression) isMethod(f *value.Function) bool {
	class, ok := strings.CutSuffix(f.Name, "::"+spelling.Last(f.Name))
	if !ok {
		return false
	}
	t, err := e.context.typeNamed("", class)
	if err != nil || !isClass(t) && t.Strip().Kind() != value.Union {
		return false
	}
	members, _ := t.Members()
	return slices.ContainsFunc(members.Methods, func(m value.Method) bool {
		return !m.Static && (m.Linkage == f.LinkageName || m.Linkage == "" && m.Name == spelling.Last(f.Name))
	})
}

// typeWord returns the type with a name, or nil. A class hides its constructors.
func (p *parser) typeWord(word string) *value.Type {
	s, err := p.names.symbol("", word)
	switch {
	case err == nil && s.typ != nil:
		return s.typ
	case err == nil && s.function == nil:
		return nil
	}
	t, err := p.names.typeNamed("", word)
	if err != nil {
		return nil
	}
	switch t.Kind() {
	case value.Struct, value.Class, value.Union, value.Enum:
		return t
	}
	if p.names.language() == value.Rust && (word == "bool" || word == "char" && t.Size() == 4) { // C has other types of these names
		return t
	}
	return nil
}

// implicit returns the member of the object of this that a name means, or nil.
func (p *parser) implicit(t token) *node {
	this := p.names.this(t.text, p.peek(0).is(openParenthesis))
	if this == nil {
		return nil
	}
	n := p.tree(arrow, t.start, &node{op: variableOf, symbol: this, column: t.start + 1})
	n.text = t.text
	return n
}

func isClass(t *value.Type) bool {
	kind := t.Strip().Kind()
	return kind == value.Struct || kind == value.Class
}

// classPointer converts a pointer to an object of a class to one of another class, as C++'s
// static_cast does. If neither is a base of the other, it returns the address unchanged.
func (e *Expression) classPointer(address uint64, from, to *value.Type) uint64 {
	if address == 0 || e.dry || from.Equal(to) {
		return address
	}
	if base, ok := e.baseOf(value.At(from, address, e.frame), to); ok {
		e.check(base.Err())
		at, _ := base.Address()
		return at
	}
	base, ok := findBase(to, from)
	switch {
	case !ok:
		return address
	case base.isVirtual:
		panic(e.failure(errorf("%s is a virtual base of %s; the console does not cast from it (\"clew debug --gdb\" does).", from, to)))
	}
	return address - base.offset
}
