// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import "github.com/clewdev/clew/value"

// What follows is what names mean in C++ beyond what they do in C.

// classes is asked by a parser too, where the names can be of C++.
type classes interface {
	// this returns the object whose member a name is by itself, in a function of
	// its class, nil where the name is a local variable's or no member's.
	this(name string) *symbol
	// classMember returns a static member or function of a class.
	classMember(class, name string) *symbol
}

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

func (c *Context) classMember(class, name string) *symbol {
	if s := inObject(c.Info, c.Address, class+"::"+name); s != nil {
		return s
	}
	for _, o := range c.Objects {
		if s := inObject(o.Info(), 0, class+"::"+name); s != nil {
			s.object = o
			return s
		}
	}
	return nil
}

// meaning returns what a name in a scope means. Where that is the name of a class,
// its constructors have it too: a scope is then the class.
func (p *parser) meaning(scope, name string) (*symbol, error) {
	s, err := p.names.symbol(scope, name)
	if err != nil && scope != "" && scope != "::" {
		if c, ok := p.names.(classes); ok {
			if s := c.classMember(scope, name); s != nil {
				return s, nil
			}
		}
	}
	return s, err
}

// typeWord returns the type that a word is the name of, nil where it is of something
// else. A class comes before its constructors.
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

// implicit returns the member that a name is by itself, or nil.
func (p *parser) implicit(t token) *node {
	c, ok := p.names.(classes)
	if !ok {
		return nil
	}
	this := c.this(t.text)
	if this == nil {
		return nil
	}
	n := p.tree(arrow, t.start, &node{op: variableOf, symbol: this, column: t.start + 1})
	n.text = t.text
	return n
}
