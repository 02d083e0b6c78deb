// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dlang

import (
	"strconv"
	"strings"
)

// Bounds on a name: how deep types and templates nest, its length in bytes, and
// how many parts of it are read, again behind a reference back.
const (
	maxDepth = 64
	maxText  = 1 << 14
	maxSteps = 1 << 14
)

// Demangle returns the name that a symbol stands for, with the types of its
// parameters; false where it is no symbol of D.
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

// demangler reads a symbol front to back. After a failure all is empty.
type demangler struct {
	s      string
	at     int
	depth  int
	steps  int
	last   int // where the last reference back to a type was read
	failed bool
}

func (d *demangler) fail() string {
	d.failed, d.at = true, len(d.s)
	return ""
}

// enter counts a part that is read, and how deep it is; leave ends it.
func (d *demangler) enter() bool {
	d.steps++
	d.depth++
	if d.depth > maxDepth || d.steps > maxSteps {
		d.fail()
	}
	return !d.failed
}

func (d *demangler) leave() { d.depth-- }

// limit fails where a text has become too long.
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

// mangled reads what follows "_D": a qualified name and the type of what it
// names, which only the parameters of a function are shown of.
func (d *demangler) mangled() string {
	name := d.qualified(true)
	if !d.take("Z") { // what the compiler made has no type
		d.typeOf()
	}
	return name
}

// isSymbolName reports whether a name follows.
func (d *demangler) isSymbolName() bool {
	c := d.peek(0)
	if c >= '0' && c <= '9' {
		return true
	}
	if c == '_' && d.peek(1) == '_' && (d.peek(2) == 'T' || d.peek(2) == 'U') {
		return true
	}
	if c != 'Q' {
		return false
	}
	to, _, ok := d.backReference()
	return ok && d.s[to] >= '0' && d.s[to] <= '9'
}

// backReference reads where the reference at d.at leads, and where it ends.
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

// qualified reads names with dots between them. A function among them has
// parameters; the modifiers of a method stand behind those of the last one.
func (d *demangler) qualified(modifiers bool) string {
	if !d.enter() {
		return ""
	}
	defer d.leave()
	var b strings.Builder
	for n := 0; !d.failed && b.Len() <= maxText; n++ {
		for d.peek(0) == '0' { // an anonymous one
			d.at++
		}
		start := d.at
		name := d.symbol()
		if prefix, ok := made[name]; ok && n > 0 && d.peek(0) == 'Z' && d.s[start] != 'Q' {
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

// made are the names of what the compiler makes for a type or a module.
var made = map[string]string{
	"__init":       "initializer for ",
	"__vtbl":       "vtable for ",
	"__Class":      "ClassInfo for ",
	"__Interface":  "Interface for ",
	"__ModuleInfo": "ModuleInfo for ",
}

// parameters reads the type of a function without what it returns, where one
// follows, and reads nothing where it does not fit.
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
		*d = before
		return
	}
	d.at++
	d.attributes()
	list := d.arguments()
	if d.failed || d.at == len(d.s) {
		// What follows is the type of a variable, of a pointer to function perhaps.
		steps := d.steps
		*d = before
		d.steps = steps
		return
	}
	b.WriteString("(" + list + ")")
	if modifiers {
		b.WriteString(suffix)
	}
}

// modifierSuffix reads the modifiers of a method.
func (d *demangler) modifierSuffix() (text string) {
	for {
		switch {
		case d.take("x"):
			text += " const"
		case d.take("y"):
			return text + " immutable"
		case d.take("O"):
			text += " shared"
		case d.take("Ng"):
			text += " inout"
		default:
			return text
		}
	}
}

func isConvention(c byte) bool { return c != 0 && strings.IndexByte("FUWVRY", c) >= 0 }

// attributes reads those of a function.
func (d *demangler) attributes() (text string) {
	for d.peek(0) == 'N' {
		name, ok := functionAttributes[d.peek(1)]
		if !ok {
			break
		}
		text += name + " "
		d.at += 2
	}
	return text
}

var functionAttributes = map[byte]string{
	'a': "pure", 'b': "nothrow", 'c': "ref", 'd': "@property", 'e': "@trusted", 'f': "@safe",
	'i': "@nogc", 'j': "return", 'l': "scope", 'm': "@live",
}

// arguments reads the types of parameters up to their end.
func (d *demangler) arguments() string {
	var b strings.Builder
	for n := 0; !d.failed; n++ {
		switch {
		case d.take("X"):
			return b.String() + "..."
		case d.take("Y"):
			if n > 0 {
				b.WriteString(", ")
			}
			return b.String() + "..."
		case d.take("Z"):
			return d.limit(b.String())
		}
		if n > 0 {
			b.WriteString(", ")
		}
		if d.take("M") {
			b.WriteString("scope ")
		}
		if d.take("Nk") {
			b.WriteString("return ")
		}
		switch {
		case d.take("I"):
			b.WriteString("in ")
			if d.take("K") {
				b.WriteString("ref ")
			}
		case d.take("J"):
			b.WriteString("out ")
		case d.take("K"):
			b.WriteString("ref ")
		case d.take("L"):
			b.WriteString("lazy ")
		}
		b.WriteString(d.typeOf())
		d.limit(b.String())
	}
	return ""
}

// symbol reads one name: with its length before it, an instance of a template,
// or a reference back to a name.
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
	if n >= 5 && d.peek(0) == '_' && d.peek(1) == '_' && (d.peek(2) == 'T' || d.peek(2) == 'U') {
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
	for d.peek(0) >= '0' && d.peek(0) <= '9' {
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

// template reads an instance of a template, which ends at an offset where that
// is not negative.
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
	if c := d.peek(0); c >= '0' && c <= '9' {
		// Before 2017 a length stood before the whole.
		before := *d
		if n := d.number(); !d.failed && n <= len(d.s)-d.at && strings.HasPrefix(d.s[d.at:], "_D") {
			end := d.at + n
			d.at += 2
			if name := d.mangled(); !d.failed && d.at == end {
				return name
			}
		}
		steps := d.steps
		*d = before
		d.steps = steps
	}
	return d.qualified(false)
}

var basic = map[byte]string{
	'v': "void", 'g': "byte", 'h': "ubyte", 's': "short", 't': "ushort", 'i': "int", 'k': "uint", 'l': "long",
	'm': "ulong", 'f': "float", 'd': "double", 'e': "real", 'o': "ifloat", 'p': "idouble", 'j': "ireal",
	'q': "cfloat", 'r': "cdouble", 'c': "creal", 'b': "bool", 'a': "char", 'u': "wchar", 'w': "dchar", 'n': "typeof(null)",
}

// typeOf reads a type.
func (d *demangler) typeOf() string {
	if !d.enter() {
		return ""
	}
	defer d.leave()
	c := d.peek(0)
	if name, ok := basic[c]; ok {
		d.at++
		return name
	}
	if isConvention(c) {
		return d.function("")
	}
	d.at++
	switch c {
	case 'O':
		return d.limit("shared(" + d.typeOf() + ")")
	case 'x':
		return d.limit("const(" + d.typeOf() + ")")
	case 'y':
		return d.limit("immutable(" + d.typeOf() + ")")
	case 'N':
		switch {
		case d.take("g"):
			return d.limit("inout(" + d.typeOf() + ")")
		case d.take("h"):
			return d.limit("__vector(" + d.typeOf() + ")")
		case d.take("n"):
			return "typeof(*null)"
		}
	case 'A':
		return d.limit(d.typeOf() + "[]")
	case 'G':
		start := d.at
		d.number()
		n := d.s[start:d.at]
		return d.limit(d.typeOf() + "[" + n + "]")
	case 'H':
		key := d.typeOf()
		return d.limit(d.typeOf() + "[" + key + "]")
	case 'P':
		if isConvention(d.peek(0)) {
			return d.function(" function")
		}
		return d.limit(d.typeOf() + "*")
	case 'I', 'C', 'S', 'E', 'T':
		return d.qualified(false)
	case 'D':
		suffix := d.modifierSuffix()
		if d.peek(0) == 'Q' {
			return d.behind(func() string { return d.function(" delegate" + suffix) })
		}
		return d.function(" delegate" + suffix)
	case 'B':
		n := d.number()
		var list []string
		for ; n > 0 && !d.failed; n-- {
			list = append(list, d.typeOf())
		}
		return d.limit("Tuple!(" + strings.Join(list, ", ") + ")")
	case 'z':
		switch {
		case d.take("i"):
			return "cent"
		case d.take("k"):
			return "ucent"
		}
	case 'Q':
		d.at--
		return d.behind(d.typeOf)
	}
	return d.fail()
}

// behind reads a type where a reference leads back to.
func (d *demangler) behind(read func() string) string {
	here := d.at
	to, end, ok := d.backReference()
	if !ok || d.last != 0 && here >= d.last {
		return d.fail() // one within another leads further back
	}
	last := d.last
	d.last, d.at = here, to
	text := read()
	d.last = last
	if !d.failed {
		d.at = end
	}
	return text
}

// function reads the type of a function, of which kind is written behind.
func (d *demangler) function(kind string) string {
	convention := ""
	switch d.peek(0) {
	case 'F':
	case 'U':
		convention = "extern(C) "
	case 'W':
		convention = "extern(Windows) "
	case 'V':
		convention = "extern(Pascal) "
	case 'R':
		convention = "extern(C++) "
	case 'Y':
		convention = "extern(Objective-C) "
	default:
		return d.fail()
	}
	d.at++
	attributes := d.attributes()
	list := d.arguments()
	result := d.typeOf()
	if kind != "" {
		kind = " " + attributes + kind[1:]
	} else {
		kind = " " + strings.TrimSuffix(attributes, " ")
	}
	return d.limit(convention + result + "(" + list + ")" + kind)
}

// value reads the argument of a template that is a value of a type.
func (d *demangler) value(kind byte, name string) string {
	if !d.enter() {
		return ""
	}
	defer d.leave()
	c := d.peek(0)
	switch {
	case d.take("n"):
		return "null"
	case d.take("N"):
		return "-" + d.integer(kind)
	case d.take("i"), c >= '0' && c <= '9':
		return d.integer(kind)
	case d.take("e"):
		return d.real()
	case d.take("c"):
		re := d.real()
		if !d.take("c") {
			return d.fail()
		}
		return re + "+" + d.real() + "i"
	case c == 'a' || c == 'w' || c == 'd':
		return d.text()
	case d.take("A"):
		n := d.number()
		var list []string
		for ; n > 0 && !d.failed; n-- {
			item := d.value(0, "")
			if kind == 'H' {
				item += ":" + d.value(0, "")
			}
			list = append(list, item)
		}
		return d.limit("[" + strings.Join(list, ", ") + "]")
	case d.take("S"):
		n := d.number()
		var list []string
		for ; n > 0 && !d.failed; n-- {
			list = append(list, d.value(0, ""))
		}
		return d.limit(name + "(" + strings.Join(list, ", ") + ")")
	case d.take("f"):
		if d.take("_D") {
			return d.mangled()
		}
	}
	return d.fail()
}

func (d *demangler) integer(kind byte) string {
	start := d.at
	for d.peek(0) >= '0' && d.peek(0) <= '9' {
		d.at++
	}
	digits := d.s[start:d.at]
	if digits == "" {
		return d.fail()
	}
	switch kind {
	case 'a', 'u', 'w':
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil {
			return d.fail()
		}
		switch {
		case kind == 'a' && n >= ' ' && n < 0x7f:
			return "'" + string(rune(n)) + "'"
		case kind == 'a':
			return `'\x` + hex(n, 2) + "'"
		case kind == 'u':
			return `'\u` + hex(n, 4) + "'"
		}
		return `'\U` + hex(n, 8) + "'"
	case 'b':
		if digits == "0" {
			return "false"
		}
		return "true"
	case 'h', 't', 'k':
		return digits + "u"
	case 'l':
		return digits + "L"
	case 'm':
		return digits + "uL"
	}
	return digits
}

func hex(n uint64, width int) string {
	s := strconv.FormatUint(n, 16)
	return strings.Repeat("0", max(0, width-len(s))) + s
}

// real reads a floating-point number, which is in hexadecimal.
func (d *demangler) real() string {
	for text, name := range map[string]string{"NAN": "NaN", "INF": "Inf", "NINF": "-Inf"} {
		if d.take(text) {
			return name
		}
	}
	sign := ""
	if d.take("N") {
		sign = "-"
	}
	digits := d.hexDigits()
	if digits == "" || !d.take("P") {
		return d.fail()
	}
	exponent := ""
	if d.take("N") {
		exponent = "-"
	}
	start := d.at
	d.number()
	text := sign + "0x" + digits[:1] + "."
	return text + digits[1:] + "p" + exponent + d.s[start:d.at]
}

func (d *demangler) hexDigits() string {
	start := d.at
	for c := d.peek(0); c >= '0' && c <= '9' || c >= 'A' && c <= 'F' || c >= 'a' && c <= 'f'; c = d.peek(0) {
		d.at++
	}
	return d.s[start:d.at]
}

// text reads a string: its width, how many bytes it has, and those.
func (d *demangler) text() string {
	width := d.peek(0)
	d.at++
	n := d.number()
	if !d.take("_") || n > (len(d.s)-d.at)/2 {
		return d.fail()
	}
	var b strings.Builder
	b.WriteByte('"')
	for ; n > 0; n-- {
		c, err := strconv.ParseUint(d.s[d.at:][:2], 16, 8)
		if err != nil {
			return d.fail()
		}
		d.at += 2
		switch {
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\f':
			b.WriteString(`\f`)
		case c == '\v':
			b.WriteString(`\v`)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(byte(c))
		default:
			b.WriteString(`\x` + d.s[d.at-2:d.at])
		}
	}
	b.WriteByte('"')
	if width != 'a' {
		b.WriteByte(width)
	}
	return b.String()
}
