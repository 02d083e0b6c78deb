// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// String returns the type as gdb's whatis prints it: "char *", "int (*)(int, void *)",
// "struct node [10]". It returns a type of Go in Go's syntax.
func (t *Type) String() string {
	n := namer{left: 256}
	switch t.language {
	case Go:
		return t.goName()
	case Fortran:
		return n.fortran(t, 0)
	case Ada:
		return n.ada(t, 0)
	case Rust:
		return n.rust(t, 0)
	}
	return n.declare(t, "", 0)
}

// Declare returns the declaration of a name as a t in C: "int (*compare)(int, int)".
func (t *Type) Declare(name string) string {
	n := namer{left: 256}
	return n.declare(t, name, 0)
}

// Expand is Declare with another text for the base type, structure, enumeration or typedef that
// the declaration begins with. If typedefs is true, the declaration has the targets of typedefs
// instead of their names, as gdb's ptype prints it.
func (t *Type) Expand(name string, typedefs bool, text func(*Type) string) string {
	n := namer{left: 256, text: text, typedefs: typedefs}
	return n.declare(t, name, 0)
}

// namer spells a type. The types of parameters make it a tree. left is the number of types that
// may still be spelled.
type namer struct {
	left     int
	text     func(*Type) string // nil for the names of types
	typedefs bool               // are expanded
}

// qualifiers are the qualifiers of a type, in gdb's order.
type qualifiers uint8

var qualifierWords = [...]string{"const", "volatile", "restrict", "_Atomic"}

// unqualified returns a type without its qualifiers, and adds them to q.
func (t *Type) unqualified(q qualifiers) (*Type, qualifiers) {
	for range maxChain {
		switch t.kind {
		case Const, Volatile, Restrict, Atomic:
			q |= 1 << (t.kind - Const)
			t = t.Elem()
		default:
			return t, q
		}
	}
	return t, q
}

func (q qualifiers) String() string {
	text := ""
	for k, word := range qualifierWords {
		if q&(1<<k) != 0 {
			text += " " + word
		}
	}
	return strings.TrimPrefix(text, " ")
}

// declare returns the declaration of declarator as a t (C 6.7.6).
func (n *namer) declare(t *Type, declarator string, depth int) string {
	return n.qualified(t, declarator, 0, depth)
}

// qualified is declare for a type with more qualifiers.
func (n *namer) qualified(t *Type, declarator string, q qualifiers, depth int) string {
	if n.left--; n.left < 0 || depth > maxChain || len(declarator) > 1<<12 {
		return "..."
	}
	t, q = t.unqualified(q)
	switch t.kind {
	case Pointer, Reference, RvalueReference, MemberPointer:
		mark := map[Kind]string{Pointer: "*", Reference: "&", RvalueReference: "&&", MemberPointer: "::*"}[t.kind]
		e := t.Elem() // it also reads the class
		if t.class != nil {
			mark = t.class.name + mark
		}
		// Qualifiers of a pointer follow its mark.
		if q != 0 {
			mark += " " + q.String()
			if declarator != "" && declarator[0] != '[' && declarator[0] != '&' && (declarator[0] != '(' || strings.HasPrefix(declarator, "(*") || strings.HasPrefix(declarator, "(&")) {
				mark += " "
			}
		}
		mark += declarator
		inner, _ := e.unqualified(0)
		if n.typedefs {
			inner = e.named()
		}
		if inner.kind == Array || inner.kind == Func {
			mark = "(" + mark + ")"
		}
		return n.declare(e, mark, depth+1)
	case Array:
		suffix := "[]"
		if t.Elem(); t.dynamicAttribute(upperBound) != nil || t.dynamicAttribute(elementCount) != nil {
			suffix = "[variable length]"
		} else if t.counted {
			suffix = fmt.Sprintf("[%d]", t.count)
		}
		if t.vector {
			suffix = fmt.Sprintf("__attribute__ ((vector_size(%d)))", t.count)
		}
		return n.qualified(t.Elem(), declarator+suffix, q, depth+1) // an array is as its elements
	case Func:
		return n.declare(t.Elem(), declarator+n.cParams(t, depth), depth+1)
	case Typedef:
		if n.typedefs {
			// As in gdb, the target keeps the qualifiers of the typedef only if they are written
			// before it.
			if kind := t.named().kind; depth > 0 && (kind == Pointer || kind == Reference || kind == Func || kind == MemberPointer) {
				q = 0
			}
			return n.qualified(t.Elem(), declarator, q, depth+1)
		}
	case Void:
		if n.typedefs {
			q = 0 // as in gdb
		}
	}
	name := t.tagged()
	if n.text != nil {
		name = n.text(t)
	}
	if q != 0 {
		name = q.String() + " " + name
	}
	switch {
	case declarator == "":
		return name
	case strings.HasSuffix(name, "*"):
		return name + declarator
	}
	return name + " " + declarator
}

// rust returns the name of a type of Rust. The compiler names pointers, but not those that an
// expression makes.
func (n *namer) rust(t *Type, depth int) string {
	if n.left--; n.left < 0 || depth > maxChain {
		return "..."
	}
	switch t.kind {
	case Const, Volatile, Restrict, Atomic:
		return n.rust(t.Elem(), depth+1)
	case Pointer, Reference:
		if t.name != "" {
			return t.name
		}
		return "*mut " + n.rust(t.Elem(), depth+1)
	case Array:
		length, counted := t.Len()
		if !counted {
			return "[" + n.rust(t.Elem(), depth+1) + "]"
		}
		return fmt.Sprintf("[%s; %d]", n.rust(t.Elem(), depth+1), length)
	case Func:
		text := "fn (" + strings.Join(n.params(t, func(p *Type) string { return n.rust(p, depth+1) }), ", ") + ")"
		if result := t.Elem(); result.kind != Void && result.name != "()" {
			text += " -> " + n.rust(result, depth+1)
		}
		return text
	}
	return t.tagged()
}

// cParams returns the parameter list of a function. As in gdb, it is (void) if there are none.
func (n *namer) cParams(t *Type, depth int) string {
	names := &namer{left: n.left} // parameters are not expanded
	list := n.params(t, func(p *Type) string { return names.declare(p, "", depth+1) })
	n.left = names.left
	switch {
	case t.Variadic() && len(list) > 0:
		list = append(list, "...")
	case !t.Variadic() && len(list) == 0:
		list = []string{"void"}
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// tagged returns the name of a type as its language spells it.
func (t *Type) tagged() string {
	tag := ""
	switch t.kind {
	case Struct:
		tag = "struct"
	case Class:
		tag = "class"
	case Union:
		tag = "union"
	case Enum:
		tag = "enum"
	case Unknown:
		if t.name == "" {
			return "<unknown type>"
		}
	}
	switch {
	case tag != "" && t.name == "":
		return tag + " {...}"
	case tag != "" && t.language == C:
		return tag + " " + t.name
	case t.name == "" && t.kind == Typedef:
		return "<unnamed typedef>"
	}
	return t.name
}

func (n *namer) fortran(t *Type, depth int) string {
	if n.left--; n.left < 0 || depth > maxChain {
		return "..."
	}
	switch t.kind {
	case Pointer, Reference:
		return map[Kind]string{Pointer: "PTR", Reference: "REF"}[t.kind] + " TO -> ( " + n.fortran(t.Elem(), depth+1) + " )"
	case Const, Volatile, Restrict, Atomic:
		return n.fortran(t.Elem(), depth+1)
	case Text:
		return t.fortranTextName()
	case Struct, Union:
		return "Type " + t.name
	case Func:
		params := n.params(t, func(p *Type) string { return n.fortran(p, depth+1) })
		return n.fortran(t.Elem(), depth+1) + " () (" + strings.Join(params, ", ") + ")"
	case Array:
		return n.fortranArray(t, depth)
	}
	return t.tagged()
}

func (t *Type) fortranTextName() string {
	t.load()
	switch width := max(1, t.Elem().Size()); {
	case t.lazy && !t.sized:
		return "character (*)"
	case t.lazy:
		return fmt.Sprintf("character (%d)", t.size/width)
	case !t.sized || t.size == 0:
		return "character*(*)"
	default:
		return fmt.Sprintf("character*%d", t.size/width)
	}
}

// fortranArray returns the name of an array type. The bounds of the first dimension come first.
func (n *namer) fortranArray(t *Type, depth int) string {
	var bounds []string
	allocated := ""
	if t.Elem(); t.lazy || t.dynamicAttribute(isAllocated) != nil {
		allocated = ", allocatable"
	}
	for ; t.kind == Array && len(bounds) < maxChain; t = t.Elem().named() {
		t.Elem()
		bound := "*"
		switch {
		case t.counted:
			if bound = strconv.FormatInt(t.lower+int64(t.count)-1, 10); t.lower != 1 {
				bound = strconv.FormatInt(t.lower, 10) + ":" + bound
			}
		case t.dynamic != nil:
			bound = ":"
		}
		bounds = append(bounds, bound)
	}
	slices.Reverse(bounds)
	return n.fortran(t, depth+1) + allocated + " (" + strings.Join(bounds, ",") + ")"
}

// params returns the names of the types of a function's parameters, and "..." instead of the last
// ones if they are too long.
func (n *namer) params(t *Type, name func(p *Type) string) (list []string) {
	size := 0
	for _, p := range t.Params() {
		if n.left < 0 || size > 1<<12 {
			return append(list, "...")
		}
		list = append(list, name(p))
		size += len(list[len(list)-1])
	}
	return list
}

// ada returns the name of a type as gdb's whatis prints it in Ada: the source name, or else the
// structure of the type.
func (n *namer) ada(t *Type, depth int) string {
	if n.left--; n.left < 0 || depth > maxChain {
		return "..."
	}
	name := ""
	if t.name != "" {
		if name = AdaName(t.name); name[0] == '<' && t.kind != Array {
			name, _, _ = strings.Cut(t.name, "___")
			name = strings.ReplaceAll(name, "__", ".")
		}
	}
	switch t.kind {
	case Const, Volatile, Restrict, Atomic:
		return n.ada(t.Elem(), depth+1)
	case Reference:
		return "<ref> " + n.ada(t.Elem(), depth+1)
	case Pointer:
		return "access " + n.ada(t.Elem(), depth+1)
	case Func:
		return n.adaProfile(t, depth)
	case Array:
		if name == "" || name[0] == '<' {
			return n.adaArray(t, depth)
		}
	}
	switch {
	case name != "":
		return name
	case t.kind == Struct || t.kind == Union:
		return "record ... end record"
	}
	return t.tagged()
}

func (n *namer) adaProfile(t *Type, depth int) string {
	params := n.params(t, func(p *Type) string { return n.ada(p, depth+1) })
	for k := range params {
		params[k] = fmt.Sprintf("a%d: %s", k+1, params[k])
	}
	list := ""
	if len(params) > 0 {
		list = " (" + strings.Join(params, "; ") + ")"
	}
	if result := t.Elem(); result.kind != Void {
		return "function" + list + " return " + n.ada(result, depth+1)
	}
	return "procedure" + list
}

func (n *namer) adaArray(t *Type, depth int) string {
	var bounds []string
	packed := int64(0)
	for ; t.kind == Array && len(bounds) < maxChain; t = t.Elem() {
		if _, known := t.Len(); known {
			bounds = append(bounds, fmt.Sprintf("%d .. %d", t.lower, t.lower+int64(t.count)-1))
		} else {
			bounds = append(bounds, "<>")
		}
		packed = t.stride
	}
	text := "array (" + strings.Join(bounds, ", ") + ") of " + n.ada(t, depth+1)
	if packed > 0 {
		text += fmt.Sprintf(" <packed: %d-bit elements>", packed)
	}
	return text
}
