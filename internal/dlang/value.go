// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dlang

import (
	"strconv"
	"strings"
)

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
