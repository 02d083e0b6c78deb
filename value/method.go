// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/dwarf"
	"fmt"

	"github.com/clewdev/clew/object"
)

// Access says which code may use a member of a class.
type Access uint8

const (
	Public Access = iota
	Protected
	Private
)

// Members are the members of a structure, class or union other than its Fields.
type Members struct {
	Methods  []Method
	Typedefs []MemberType
	Template []MemberType // the type arguments of the template, by the names of its parameters
}

// MemberType is a type with a name in a class.
type MemberType struct {
	Name   string
	Type   *Type // of a typedef, its target
	Self   *Type // the typedef, or nil
	Access Access
}

// Method is a member function.
type Method struct {
	Name       string // without the class: "get", "Box", "~Box", "get<int>"
	Linkage    string // mangled, or ""
	Type       *Type  // of kind Func; the first Hidden parameters are this and those of the compiler
	Hidden     int
	Access     Access
	Virtual    bool
	Static     bool
	Artificial bool // not in the source
}

// accessOf returns the access to a member of t (DWARF 5 §5.7.6: private in a class, else public).
func (t *Type) accessOf(e *object.DebugEntry) Access {
	n, ok := e.Number(dwarf.AttrAccessibility)
	switch {
	case ok && n >= 1 && n <= 3:
		return Access(n - 1)
	case ok || t.kind != Class:
		return Public
	}
	return Private
}

// Members returns the methods and types of a structure, class or union, in the order of their
// declarations. It reads them at each call. With an error it returns those that it could read.
func (t *Type) Members() (m Members, err error) {
	if t = t.Strip(); t.info == nil || t.kind != Struct && t.kind != Class && t.kind != Union {
		return m, nil
	}
	i := t.info
	err = i.locked(func() error {
		children, err := i.entries.Children(t.offset)
		for k := range children {
			c := &children[k]
			name, _ := c.Text(dwarf.AttrName)
			if name == "" {
				continue
			}
			if !i.entries.Retain(1) {
				return fmt.Errorf("%w: %v: more members than %#x bytes can hold", ErrDebugInfo, t.offset, i.entries.Size())
			}
			switch c.Tag {
			case dwarf.TagSubprogram:
				method, err := t.method(c, name)
				if err != nil {
					return err
				}
				m.Methods = append(m.Methods, method)
			case dwarf.TagTypedef:
				m.Typedefs = append(m.Typedefs, MemberType{name, i.elemOf(c), i.typeAt(c.Offset), t.accessOf(c)})
			case dwarf.TagTemplateTypeParameter:
				m.Template = append(m.Template, MemberType{Name: name, Type: i.elemOf(c)})
			}
		}
		return err
	})
	return m, err
}

func (t *Type) method(e *object.DebugEntry, name string) (Method, error) {
	i := t.info
	virtuality, _ := e.Number(dwarf.AttrVirtuality)
	// As in gdb, a destructor whose place in the table of virtual functions is not stated is not
	// shown as virtual.
	isVirtual := virtuality != 0 && e.Has(dwarf.AttrVtableElemLoc)
	m := Method{Name: name, Type: i.typeAt(e.Offset), Access: t.accessOf(e), Virtual: isVirtual, Artificial: e.Flag(dwarf.AttrArtificial)}
	m.Linkage, _ = e.Text(dwarf.AttrLinkageName)
	parameters, err := i.entries.Children(e.Offset)
	for k := range parameters {
		p := &parameters[k]
		if p.Tag != dwarf.TagFormalParameter {
			continue
		}
		if !p.Flag(dwarf.AttrArtificial) {
			break
		}
		m.Hidden++
	}
	m.Static = m.Hidden == 0
	return m, err
}
