// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/print"
)

// In damaged debugging information a type can contain itself, so the text of a type is
// bounded.
const (
	maxTypeDepth = 32      // nested types
	maxTypeText  = 1 << 20 // bytes
)

// typeText returns a type in full, as gdb's ptype shows it: a structure with its members, a
// typedef as its target.
func typeText(t *value.Type) string {
	var w typeWriter
	return w.text(t, "", 1, "")
}

// libraryClass returns the name of the class of the C++ library that a type is made of. Its
// methods and typedefs fill screens.
func libraryClass(t *value.Type) (string, bool) {
	for range maxTypeDepth {
		switch t.Kind() {
		case value.Pointer, value.Reference, value.RvalueReference, value.Array, value.Typedef, value.Const, value.Volatile:
			t = t.Elem()
			continue
		case value.Struct, value.Class:
			name := t.Name()
			isLibrary := strings.HasPrefix(name, "std::") || strings.HasPrefix(name, "__gnu_cxx::")
			return name, t.Language() == value.CPlusPlus && isLibrary && strings.Contains(name, "<")
		}
		break
	}
	return "", false
}

// typeWriter writes types. Like gdb's, its methods have a parameter show: 1 for a type in full, 0
// for the type of a member, which is in full only if it has no name, and -1 for its members,
// which are not in full.
type typeWriter struct {
	size  int
	local []value.MemberType // names of types in the class that is written
}

// text returns the declaration of a name as a t. Its lines, except the first, begin with indent.
func (w *typeWriter) text(t *value.Type, name string, show int, indent string) string {
	if w.size > maxTypeText || show < -maxTypeDepth {
		return "..."
	}
	if t.Language() == value.Rust && name == "" {
		switch t.Kind() {
		case value.Struct, value.Union, value.Class, value.Enum:
			return w.base(t, show, indent)
		}
		return t.String()
	}
	text := t.Expand(name, show > 0, func(base *value.Type) string { return w.base(base, show, indent) })
	w.size += len(text)
	return text
}

func (w *typeWriter) base(t *value.Type, show int, indent string) string {
	if show <= 0 && t.Name() != "" {
		return w.localName(t.String())
	}
	switch t.Kind() {
	case value.Struct, value.Union, value.Class, value.Enum:
	default:
		return t.String()
	}
	switch {
	case show < 0:
		return t.String()
	case t.Language() == value.Rust:
		return w.rust(t)
	case t.Kind() == value.Enum:
		return w.enumeration(t)
	}
	return w.structure(t, show, indent)
}

// maxLocal bounds the number of names in a class and its bases.
const maxLocal = 1000

// addLocal adds the typedefs of a class and of its bases.
func (w *typeWriter) addLocal(t *value.Type, depth int) {
	if depth > maxTypeDepth || len(w.local) > maxLocal {
		return
	}
	members, _ := t.Members() // without those that cannot be read
	for _, m := range members.Typedefs {
		w.local = append(w.local, value.MemberType{Name: m.Name, Type: m.Self})
	}
	for _, f := range t.Strip().Fields() {
		if f.Base {
			w.addLocal(f.Type, depth+1)
		}
	}
}

// localName returns the name of a type in the class that is written: a parameter of the template
// for its argument, also in the arguments of other templates, and a typedef of the class without
// the class.
func (w *typeWriter) localName(name string) string {
	if len(w.local) == 0 {
		return name
	}
	for _, l := range w.local {
		if l.Type.String() == name && !l.Type.Incomplete() { // gdb does not know types without definitions
			return l.Name
		}
	}
	open := strings.IndexByte(name, '<')
	if open < 0 || len(name) > maxLocalName {
		return name
	}
	depth, start := 0, open+1
	out := name[:open+1]
	for k := open; k < len(name); k++ {
		switch name[k] {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			if depth--; depth > 0 {
				continue
			}
		case ',':
			if depth > 1 {
				continue
			}
		default:
			continue
		}
		if depth == 0 || name[k] == ',' {
			argument := w.localArgument(strings.TrimSpace(name[start:k]))
			if start != open+1 {
				out += " "
			}
			if out += argument; depth == 0 {
				if strings.HasSuffix(argument, ">") {
					out += " "
				}
				return out + name[k:]
			}
			out, start = out+",", k+1
		}
	}
	return name
}

// localArgument is localName for an argument of a template, with its qualifiers and marks.
func (w *typeWriter) localArgument(argument string) string {
	bare := strings.TrimRight(argument, "*& ")
	rest := argument[len(bare):]
	if inner, ok := strings.CutSuffix(bare, " const"); ok {
		bare, rest = inner, " const"+rest
	}
	return w.localName(bare) + rest
}

// maxLocalName bounds the length of a name with template arguments that is changed.
const maxLocalName = 4096

// structure returns a structure in full, as gdb's c_type_print_base_struct_union does.
func (w *typeWriter) structure(t *value.Type, show int, indent string) string {
	t = t.Strip()
	var b strings.Builder
	b.WriteString(head(t))
	members, err := t.Members()
	local := w.local
	defer func() { w.local = local }()
	w.local = slices.Clone(local) // as in gdb, those of the class around it stay
	w.addLocal(t, 0)
	w.local = append(w.local, members.Template...)
	for k, m := range members.Template {
		b.WriteString(map[bool]string{true: "[with ", false: ", "}[k == 0] + m.Name + " = " + m.Type.String())
	}
	if len(members.Template) > 0 {
		b.WriteString("] ")
	}
	fields := t.Fields()
	bases := 0
	for _, f := range fields {
		if f.Base {
			b.WriteString(map[bool]string{true: ": ", false: ", "}[bases == 0] + accessWords[f.Access])
			if f.Virtual {
				b.WriteString(" virtual")
			}
			b.WriteString(" " + w.localName(f.Type.String()))
			bases++
		}
	}
	if bases > 0 {
		b.WriteString(" ")
	}
	b.WriteString("{\n")
	inner := indent + "    "
	section := newSections(t, fields, &members, indent)
	for _, f := range fields {
		if f.Base || f.Artificial {
			continue
		}
		if w.size > maxTypeText {
			b.WriteString(inner + "...\n")
			break
		}
		b.WriteString(section.of(f.Access) + inner)
		if f.Static != nil {
			b.WriteString("static ")
		}
		b.WriteString(w.text(f.Type, f.Name, show-1, inner))
		if f.BitSize > 0 {
			fmt.Fprintf(&b, " : %d", f.BitSize)
		}
		b.WriteString(";\n")
	}
	w.methods(&b, t, &members, &section, inner)
	w.local = append(slices.Clone(local), members.Template...)
	w.typedefs(&b, &members, &section, inner)
	switch {
	case t.Incomplete():
		b.WriteString(inner + "<incomplete type>\n")
	case len(fields)+len(members.Methods)+len(members.Typedefs) == 0:
		b.WriteString(inner + "<no data fields>\n")
	}
	if err != nil {
		b.WriteString(inner + "<error: " + err.Error() + ">\n")
	}
	b.WriteString(indent + "}")
	return b.String()
}

// methods writes the methods of a class, those with the same name together.
func (w *typeWriter) methods(b *strings.Builder, t *value.Type, members *value.Members, section *sections, indent string) {
	class := lastName(t.Name())
	var names []string
	groups := map[string][]*value.Method{}
	for k := range members.Methods {
		m := &members.Methods[k]
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name) // also for an implicit constructor
		}
		if !m.Artificial {
			groups[m.Name] = append(groups[m.Name], m)
		}
	}
	if len(groups) > 0 && section.any {
		b.WriteString("\n")
	}
	section.needed = len(groups) > 0 // as in gdb, methods always have labels
	for _, group := range names {
		for _, m := range groups[group] {
			if w.size > maxTypeText {
				return
			}
			line := section.of(m.Access) + indent
			switch {
			case m.Virtual:
				line += "virtual "
			case m.Static:
				line += "static "
			}
			isConversion := strings.HasPrefix(m.Name, "operator ") && !strings.HasPrefix(m.Name, "operator new") && !strings.HasPrefix(m.Name, "operator delete")
			if !isConstructor(m.Name, class) && m.Name[0] != '~' && !isConversion {
				line += w.text(m.Type.Elem(), "", 0, indent) + " "
			}
			line += m.Name + w.parameters(m) + ";\n"
			w.size += len(line)
			b.WriteString(line)
		}
	}
}

// lastName returns a name without the scopes before it, which can have template arguments.
func lastName(name string) string {
	depth, start := 0, 0
	for k := range len(name) {
		switch name[k] {
		case '<', '(':
			depth++
		case '>', ')':
			depth--
		case ':':
			if depth == 0 {
				start = k + 1
			}
		}
	}
	return name[start:]
}

// isConstructor reports whether a method of a class has its name, with or without the arguments of
// its template.
func isConstructor(method, class string) bool {
	rest, ok := strings.CutPrefix(class, method)
	return ok && (rest == "" || rest[0] == '<')
}

// parameters returns the parameters of a method, without those that are not in the source, and
// its qualifiers.
func (w *typeWriter) parameters(m *value.Method) string {
	var list []string
	params := m.Type.Params()
	for _, p := range params[min(m.Hidden, len(params)):] {
		list = append(list, w.text(p, "", 0, ""))
	}
	switch {
	case m.Type.Variadic():
		list = append(list, "...")
	case len(list) == 0:
		list = []string{"void"}
	}
	text := "(" + strings.Join(list, ", ") + ")"
	if m.Hidden == 0 || len(params) == 0 {
		return text
	}
	// The type of this has the qualifiers.
	this := params[0]
	for this.Kind() == value.Const {
		this = this.Elem()
	}
	for this = this.Elem(); ; this = this.Elem() {
		switch this.Kind() {
		case value.Const:
			text += " const"
			continue
		case value.Volatile:
			text += " volatile"
			continue
		}
		return text
	}
}

// typedefs writes the typedefs of a class.
func (w *typeWriter) typedefs(b *strings.Builder, members *value.Members, section *sections, indent string) {
	for k, d := range members.Typedefs {
		if k == 0 && (section.any || b.Len() > 0) {
			b.WriteString("\n")
		}
		b.WriteString(section.of(d.Access) + indent + "typedef " + w.text(d.Type, d.Name, -1, indent) + ";\n")
	}
}

var accessWords = [...]string{value.Public: "public", value.Protected: "protected", value.Private: "private"}

// sections writes the access labels of a class, if it needs any.
type sections struct {
	needed bool
	any    bool
	last   value.Access
	indent string
}

// newSections reports whether a class needs labels: if not all of its members have the access that
// its keyword implies.
func newSections(t *value.Type, fields []value.Field, members *value.Members, indent string) sections {
	usual := value.Public
	if t.Kind() == value.Class {
		usual = value.Private
	}
	other := slices.ContainsFunc(fields, func(f value.Field) bool {
		return !f.Base && (f.Access != usual && !f.Artificial || f.Artificial && usual != value.Private)
	}) ||
		slices.ContainsFunc(members.Methods, func(m value.Method) bool { return m.Access != usual }) ||
		slices.ContainsFunc(members.Typedefs, func(m value.MemberType) bool { return m.Access != usual })
	return sections{needed: other, indent: indent}
}

// of returns the label before a member, or "".
func (s *sections) of(a value.Access) string {
	if !s.needed || s.any && s.last == a {
		return ""
	}
	s.any, s.last = true, a
	return s.indent + "  " + accessWords[a] + ":\n"
}

func (w *typeWriter) enumeration(t *value.Type) string {
	t = t.Strip()
	var b strings.Builder
	b.WriteString(head(t))
	prefix := ""
	if t.Language() == value.CPlusPlus {
		if under := t.Elem().Strip(); under.Kind() != value.Void && under.Name() != "" {
			b.WriteString(": " + under.String() + " ")
		}
		prefix = print.EnumeratorPrefix(t)
	}
	b.WriteString("{")
	next := int64(0)
	for i, e := range t.Enumerators() {
		if i > 0 {
			b.WriteString(", ")
		}
		if w.size+b.Len() > maxTypeText {
			b.WriteString("...")
			break
		}
		b.WriteString(prefix + e.Name)
		if e.Value != next {
			fmt.Fprintf(&b, " = %d", e.Value)
		}
		next = e.Value + 1
	}
	b.WriteString("}")
	return b.String()
}

// head returns the keyword and the name of a structure, union, class or enumeration.
func head(t *value.Type) string {
	text := map[value.Kind]string{value.Struct: "struct ", value.Union: "union ", value.Class: "class ", value.Enum: "enum "}[t.Kind()]
	if t.Kind() == value.Enum && t.Scoped() {
		text += "class "
	}
	if t.Name() != "" {
		text += t.Name() + " "
	}
	return text
}
