// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import "github.com/clewdev/clew/value"

// this returns the variable this if a name means a member of its class, and not a local variable,
// else nil.
func (c *Context) this(name string) *symbol {
	if name == "this" || c.local(name) != nil {
		return nil
	}
	this := c.local("this")
	if this == nil {
		return nil
	}
	class := this.variable.Type.Strip()
	if class.Kind() != value.Pointer || !findField(class.Elem(), name).found {
		return nil
	}
	return this
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
	s, err := p.names.symbol(scope, name)
	if err != nil && scope != "" && scope != "::" {
		if member := p.names.classMember(scope, name); member != nil {
			return member, nil
		}
	}
	return s, err
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
	return nil
}

// implicit returns the member of the object of this that a name means, or nil.
func (p *parser) implicit(t token) *node {
	this := p.names.this(t.text)
	if this == nil {
		return nil
	}
	n := p.tree(arrow, t.start, &node{op: variableOf, symbol: this, column: t.start + 1})
	n.text = t.text
	return n
}
