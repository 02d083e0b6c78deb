// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dlang

import "strings"

var basic = [256]string{
	'v': "void", 'g': "byte", 'h': "ubyte", 's': "short", 't': "ushort", 'i': "int", 'k': "uint", 'l': "long",
	'm': "ulong", 'f': "float", 'd': "double", 'e': "real", 'o': "ifloat", 'p': "idouble", 'j': "ireal",
	'q': "cfloat", 'r': "cdouble", 'c': "creal", 'b': "bool", 'a': "char", 'u': "wchar", 'w': "dchar", 'n': "typeof(null)",
}

var typeModifiers = [256]string{'O': "shared", 'x': "const", 'y': "immutable"}

// typeOf reads a type.
func (d *demangler) typeOf() string {
	if !d.enter() {
		return ""
	}
	defer d.leave()
	c := d.peek(0)
	if name := basic[c]; name != "" {
		d.at++
		return name
	}
	if isConvention(c) {
		return d.function("")
	}
	d.at++
	switch c {
	case 'O', 'x', 'y':
		return d.limit(typeModifiers[c] + "(" + d.typeOf() + ")")
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
			return d.referenced(func() string { return d.function(" delegate" + suffix) })
		}
		return d.function(" delegate" + suffix)
	case 'B':
		return d.limit("Tuple!(" + d.list(d.typeOf) + ")")
	case 'z':
		switch {
		case d.take("i"):
			return "cent"
		case d.take("k"):
			return "ucent"
		}
	case 'Q':
		d.at--
		return d.referenced(d.typeOf)
	}
	return d.fail()
}

// list reads a number and as many parts, and joins them with commas.
func (d *demangler) list(read func() string) string {
	var parts []string
	for n := d.number(); n > 0 && !d.failed; n-- {
		parts = append(parts, read())
	}
	return strings.Join(parts, ", ")
}

// referenced reads the type to which a back reference points.
func (d *demangler) referenced(read func() string) string {
	here := d.at
	to, end, ok := d.backReference()
	if !ok || d.last != 0 && here >= d.last {
		return d.fail() // a nested reference must point further back
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

// conventions are the calling conventions in the types of functions.
var conventions = map[byte]string{
	'F': "", 'U': "extern(C) ", 'W': "extern(Windows) ", 'V': "extern(Pascal) ", 'R': "extern(C++) ", 'Y': "extern(Objective-C) ",
}

func isConvention(c byte) bool {
	_, ok := conventions[c]
	return ok
}

// function reads the type of a function. kind follows it in the result.
func (d *demangler) function(kind string) string {
	convention, ok := conventions[d.peek(0)]
	if !ok {
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

// attributes reads the attributes of a function.
func (d *demangler) attributes() (text string) {
	for d.peek(0) == 'N' {
		name := functionAttributes[d.peek(1)]
		if name == "" {
			break
		}
		text += name + " "
		d.at += 2
	}
	return text
}

var functionAttributes = [256]string{
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
