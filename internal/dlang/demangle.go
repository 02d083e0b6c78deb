// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dlang

import "strings"

// Bounds on a name: the nesting of types and templates, its length in bytes, and the number of parts
// that are read, where each back reference counts its target again.
const (
	maxDepth = 64
	maxText  = 1 << 14
	maxSteps = 1 << 14
)

// Demangle returns the name of a symbol with the types of its parameters. It returns false if it is
// not a symbol of D.
func Demangle(symbol string) (name string, ok bool) {
	if symbol == "_Dmain" {
		return "D main", true
	}
	if !strings.HasPrefix(symbol, "_D") {
		return "", false
	}
	d := demangler{s: symbol, at: 2}
	name = d.mangled()
	if d.failed || d.at != len(symbol) {
		return "", false
	}
	return name, true
}

// demangler reads a symbol from its start. After a failure all results are "".
type demangler struct {
	s      string
	at     int
	depth  int
	steps  int
	last   int // offset of the outermost back reference to a type that is being read
	failed bool
}

func (d *demangler) fail() string {
	d.failed, d.at = true, len(d.s)
	return ""
}

// enter counts a part and its nesting. The caller must call leave if it returns true.
func (d *demangler) enter() bool {
	d.steps++
	d.depth++
	if d.depth > maxDepth || d.steps > maxSteps {
		d.fail()
	}
	return !d.failed
}

func (d *demangler) leave() { d.depth-- }

// limit fails if a text is too long.
func (d *demangler) limit(text string) string {
	if len(text) > maxText {
		return d.fail()
	}
	return text
}

func (d *demangler) peek(n int) byte {
	if d.at+n < len(d.s) {
		return d.s[d.at+n]
	}
	return 0
}

func (d *demangler) take(prefix string) bool {
	if strings.HasPrefix(d.s[d.at:], prefix) {
		d.at += len(prefix)
		return true
	}
	return false
}

// rewind moves back to an earlier state. The steps since then still count.
func (d *demangler) rewind(to demangler) {
	to.steps = d.steps
	*d = to
}

// mangled reads the part after "_D": a qualified name and its type. Only the parameters of a
// function's type are in the result.
func (d *demangler) mangled() string {
	name := d.qualified(true)
	if !d.take("Z") { // symbols made by the compiler have no type
		d.typeOf()
	}
	return name
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isTemplate reports whether an instance of a template is next.
func (d *demangler) isTemplate() bool {
	return d.peek(0) == '_' && d.peek(1) == '_' && (d.peek(2) == 'T' || d.peek(2) == 'U')
}

// isSymbolName reports whether a name is next.
func (d *demangler) isSymbolName() bool {
	c := d.peek(0)
	if isDigit(c) || d.isTemplate() {
		return true
	}
	if c != 'Q' {
		return false
	}
	to, _, ok := d.backReference()
	return ok && isDigit(d.s[to])
}

// backReference returns the target of the back reference at d.at, and where the reference ends.
func (d *demangler) backReference() (to, end int, ok bool) {
	n := 0
	for i := d.at + 1; i < len(d.s) && n < len(d.s); i++ {
		switch c := d.s[i]; {
		case c >= 'A' && c <= 'Z':
			n = n*26 + int(c-'A')
			continue
		case c >= 'a' && c <= 'z':
			n = n*26 + int(c-'a')
			if n > 0 && d.at-n >= 0 {
				return d.at - n, i + 1, true
			}
		}
		break
	}
	return 0, 0, false
}

// qualified reads names and joins them with dots. Functions among them have parameters. The modifiers
// of a method follow those of the last one.
func (d *demangler) qualified(modifiers bool) string {
	if !d.enter() {
		return ""
	}
	defer d.leave()
	var b strings.Builder
	for n := 0; !d.failed && b.Len() <= maxText; n++ {
		for d.peek(0) == '0' { // an anonymous part
			d.at++
		}
		start := d.at
		name := d.symbol()
		if prefix := generated[name]; prefix != "" && n > 0 && d.peek(0) == 'Z' && d.s[start] != 'Q' {
			text := prefix + b.String()
			b.Reset()
			b.WriteString(text)
		} else {
			if n > 0 {
				b.WriteByte('.')
			}
			b.WriteString(name)
		}
		d.parameters(&b, modifiers)
		if !d.isSymbolName() {
			break
		}
	}
	return d.limit(b.String())
}

// generated are the prefixes in the names of symbols that the compiler generates for a type or a
// module.
var generated = map[string]string{
	"__init": "initializer for ", "__vtbl": "vtable for ", "__Class": "ClassInfo for ", "__Interface": "Interface for ",
	"__ModuleInfo": "ModuleInfo for ",
}

// parameters reads the type of a function except for its result, if one is next, and otherwise
// nothing.
func (d *demangler) parameters(b *strings.Builder, modifiers bool) {
	c := d.peek(0)
	if c != 'M' && !isConvention(c) {
		return
	}
	before := *d
	suffix := ""
	if d.take("M") {
		suffix = d.modifierSuffix()
	}
	if !isConvention(d.peek(0)) {
		d.rewind(before)
		return
	}
	d.at++
	d.attributes()
	list := d.arguments()
	if d.failed || d.at == len(d.s) {
		d.rewind(before) // this is the type of a variable, for example a pointer to function
		return
	}
	b.WriteString("(" + list + ")")
	if modifiers {
		b.WriteString(suffix)
	}
}

// symbol reads one name: a length and the name, an instance of a template, or a back reference to a
// name.
func (d *demangler) symbol() string {
	if !d.enter() {
		return ""
	}
	defer d.leave()
	if d.peek(0) == 'Q' {
		to, end, ok := d.backReference()
		if !ok {
			return d.fail()
		}
		d.at = to
		name := d.symbol()
		if !d.failed {
			d.at = end
		}
		return name
	}
	if d.peek(0) == '_' {
		return d.template(-1)
	}
	n := d.number()
	if d.failed || n <= 0 || n > len(d.s)-d.at {
		return d.fail()
	}
	if n >= 5 && d.isTemplate() {
		return d.template(d.at + n)
	}
	name := d.s[d.at:][:n]
	d.at += n
	switch name {
	case "__ctor":
		return "this"
	case "__dtor":
		return "~this"
	case "__postblit":
		if d.take("MFZ") {
			return "this(this)"
		}
	}
	return name
}

func (d *demangler) number() (n int) {
	start := d.at
	for isDigit(d.peek(0)) {
		if n = 10*n + int(d.peek(0)-'0'); n > 1<<30 {
			d.fail()
			return 0
		}
		d.at++
	}
	if d.at == start {
		d.fail()
	}
	return n
}

// template reads an instance of a template. It fails if the instance does not end at end, unless that
// is negative.
func (d *demangler) template(end int) string {
	if !d.take("__T") && !d.take("__U") {
		return d.fail()
	}
	name := d.symbol()
	var b strings.Builder
	b.WriteString(name + "!(")
	for n := 0; !d.failed && !d.take("Z"); n++ {
		if n > 0 {
			b.WriteString(", ")
		}
		d.take("H") // specialised
		switch {
		case d.take("T"):
			b.WriteString(d.typeOf())
		case d.take("S"):
			b.WriteString(d.alias())
		case d.take("V"):
			kind := d.peek(0)
			if kind == 'Q' {
				if to, _, ok := d.backReference(); ok {
					kind = d.s[to]
				}
			}
			name := d.typeOf()
			b.WriteString(d.value(kind, name))
		case d.take("X"):
			n := d.number()
			if n > len(d.s)-d.at {
				return d.fail()
			}
			b.WriteString(d.s[d.at:][:n])
			d.at += n
		default:
			return d.fail()
		}
		d.limit(b.String())
	}
	if end >= 0 && d.at != end {
		return d.fail()
	}
	b.WriteByte(')')
	return d.limit(b.String())
}

// alias reads a symbol as the argument of a template.
func (d *demangler) alias() string {
	if d.take("_D") {
		return d.mangled()
	}
	if isDigit(d.peek(0)) {
		// Before 2017, a length preceded the whole.
		before := *d
		if n := d.number(); !d.failed && n <= len(d.s)-d.at && strings.HasPrefix(d.s[d.at:], "_D") {
			end := d.at + n
			d.at += 2
			if name := d.mangled(); !d.failed && d.at == end {
				return name
			}
		}
		d.rewind(before)
	}
	return d.qualified(false)
}
