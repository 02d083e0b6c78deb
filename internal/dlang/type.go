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
			return d.referenced(func() string { return d.function(" delegate" + suffix) })
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
		return d.referenced(d.typeOf)
	}
	return d.fail()
}

// referenced reads the type that a reference leads back to.
func (d *demangler) referenced(read func() string) string {
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

// function reads the type of a function, and writes kind after it.
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
