// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dlang

import (
	"fmt"
	"strconv"
	"strings"
)

// value reads a template argument that is a value of a type.
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
	case d.take("i"), isDigit(c):
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
		return d.limit("[" + d.list(func() string {
			item := d.value(0, "")
			if kind == 'H' {
				item += ":" + d.value(0, "")
			}
			return item
		}) + "]")
	case d.take("S"):
		return d.limit(name + "(" + d.list(func() string { return d.value(0, "") }) + ")")
	case d.take("f"):
		if d.take("_D") {
			return d.mangled()
		}
	}
	return d.fail()
}

func (d *demangler) integer(kind byte) string {
	start := d.at
	for isDigit(d.peek(0)) {
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
			return fmt.Sprintf(`'\x%02x'`, n)
		case kind == 'u':
			return fmt.Sprintf(`'\u%04x'`, n)
		}
		return fmt.Sprintf(`'\U%08x'`, n)
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

// real reads a floating-point number, which is hexadecimal.
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
	for c := d.peek(0); isDigit(c) || c >= 'A' && c <= 'F' || c >= 'a' && c <= 'f'; c = d.peek(0) {
		d.at++
	}
	return d.s[start:d.at]
}

// text reads a string: its width, its length in bytes, and the bytes in hexadecimal.
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
		switch escape := escapes[c]; {
		case escape != "":
			b.WriteString(escape)
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

var escapes = [256]string{'\t': `\t`, '\n': `\n`, '\r': `\r`, '\f': `\f`, '\v': `\v`}
