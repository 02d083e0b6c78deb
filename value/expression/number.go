// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/clewdev/clew/value"
)

// number returns the constant in a text, or a message if it is invalid.
func (p *parser) number(text string) (operand, string) {
	lower := strings.ToLower(text)
	hex := strings.HasPrefix(lower, "0x")
	if strings.Contains(lower, ".") || !hex && strings.Contains(lower, "e") && isDigit(lower[len(lower)-1]) ||
		hex && strings.Contains(lower, "p") || !hex && !strings.HasPrefix(lower, "0b") && strings.HasSuffix(lower, "e") {
		return p.floatNumber(text, lower, hex)
	}
	base, digits := 10, lower
	switch {
	case hex:
		base, digits = 16, lower[2:]
	case strings.HasPrefix(lower, "0b"):
		base, digits = 2, lower[2:]
	case strings.HasPrefix(lower, "0t"), strings.HasPrefix(lower, "0d"):
		digits = lower[2:]
	case len(lower) > 1 && lower[0] == '0':
		base, digits = 8, lower[1:]
	}
	trimmed := strings.TrimRight(digits, "ul")
	suffix := digits[len(trimmed):]
	if trimmed == "" && base == 8 {
		trimmed = "0" // 0u
	}
	n, err := strconv.ParseUint(trimmed, base, 64)
	switch {
	case err != nil && err.(*strconv.NumError).Err == strconv.ErrRange:
		return operand{}, "Numeric constant too large."
	case err != nil || strings.Contains(trimmed, "_"):
		return operand{}, "Invalid number \"" + text + "\"."
	}
	return p.integer(n, base == 10, strings.Contains(suffix, "u"), strings.Count(suffix, "l")), ""
}

// rustNumber is number for a constant of Rust, which can have underscores and a type: 1_000u8.
func (p *parser) rustNumber(text string) (operand, string) {
	bare := strings.ReplaceAll(text, "_", "")
	for _, suffix := range [...]string{"f64", "f32"} {
		if digits, ok := strings.CutSuffix(bare, suffix); ok && !strings.HasPrefix(bare, "0x") {
			o, problem := p.floatNumber(digits, digits+map[string]string{"f32": "f"}[suffix], false)
			return p.rustTyped(o, suffix), problem
		}
	}
	if trimmed := strings.TrimLeft(bare, "0"); trimmed != "" && '0' <= trimmed[0] && trimmed[0] <= '9' {
		bare = trimmed // 010u8 is 10
	}
	if octal, ok := strings.CutPrefix(bare, "0o"); ok {
		bare = "0" + octal
	}
	for _, suffix := range [...]string{"u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"} {
		digits, ok := strings.CutSuffix(bare, suffix)
		if !ok || strings.HasPrefix(bare, "0x") && !strings.HasPrefix(suffix, "u") && !strings.HasPrefix(suffix, "i") {
			continue
		}
		t, err := p.names.typeNamed("", suffix)
		o, problem := p.number(digits)
		if err != nil || problem != "" {
			break
		}
		return basic{t, formOf(t)}.scalar(formOf(t).cut(o.bits)), ""
	}
	o, problem := p.number(bare)
	switch {
	case problem != "" || !o.form.isInteger() && o.form.kind != value.Float:
		return o, problem
	case o.form.kind == value.Float:
		return p.rustTyped(o, "f64"), ""
	case o.bits>>31 == 0:
		return p.rustTyped(o, "i32"), ""
	case o.form.signed:
		return p.rustTyped(o, "i64"), ""
	}
	return o, ""
}

// rustTyped returns a number as one of a type of Rust.
func (p *parser) rustTyped(o operand, name string) operand {
	if t, err := p.names.typeNamed("", name); err == nil && formOf(t).kind == o.form.kind {
		return basic{t, formOf(t)}.scalar(o.bits)
	}
	return o
}

// integer returns a constant of the first type that can hold it: C11 §6.4.4.1. As in gdb a decimal
// one that is too large for signed types is an unsigned long.
func (p *parser) integer(n uint64, decimal, unsigned bool, longs int) operand {
	m := p.names.machine()
	for i, name := range [...]string{"int", "long", "long long"} {
		if i < longs {
			continue
		}
		t := value.Base(m, name)
		bits := 8 * t.Size()
		switch {
		case !unsigned && n>>(bits-1) == 0:
			return scalar(t, n)
		case (unsigned || !decimal) && (bits == 64 || n>>bits == 0):
			return scalar(value.Base(m, "unsigned "+name), n)
		}
	}
	if longs < 2 {
		if t := value.Base(m, "unsigned long"); t.Size() == 8 {
			return scalar(t, n)
		}
	}
	return scalar(value.Base(m, "unsigned long long"), n)
}

func (p *parser) floatNumber(text, lower string, hex bool) (operand, string) {
	name := "double"
	switch {
	case strings.HasSuffix(lower, "f") && (!hex || strings.Contains(lower, "p")):
		name, lower = "float", lower[:len(lower)-1]
	case strings.HasSuffix(lower, "l"):
		name, lower = "long double", lower[:len(lower)-1]
	}
	lower = strings.TrimSuffix(lower, "e") // gdb takes 1e as 1
	if hex && !strings.Contains(lower, "p") {
		lower += "p0"
	}
	bits := 64
	if name == "float" {
		bits = 32
	}
	f, err := strconv.ParseFloat(lower, bits)
	if err != nil && err.(*strconv.NumError).Err != strconv.ErrRange || strings.Contains(lower, "_") {
		return operand{}, "Invalid number \"" + text + "\"."
	}
	o := scalar(value.Base(p.names.machine(), name), math.Float64bits(f))
	if name == "long double" && !math.IsInf(f, 0) {
		o.wide, _, _ = big.ParseFloat(lower, 0, precision(o.typ), big.ToNearestEven)
	}
	return o, ""
}

// wide are the types of characters and strings by prefix.
var wide = [256]string{0: "char", 'L': "wchar_t", 'u': "char16_t", 'U': "char32_t"}

// wideType returns a character type. Those with a prefix must be in the program.
func (p *parser) wideType(t token) *value.Type {
	if t.prefix == 0 && p.names.language() == value.Rust && t.kind == characterToken {
		if typ, err := p.names.typeNamed("", "char"); err == nil && typ.Size() == 4 {
			return typ
		}
	}
	if t.prefix == 0 {
		return value.Base(p.names.machine(), "char")
	}
	typ, err := p.names.typeNamed("", wide[t.prefix])
	if err != nil || typ.Size() == 0 || typ.Size() > 8 {
		p.fail(t.start, "No type named "+wide[t.prefix]+". \"clew debug --gdb\" has it.")
		return value.Base(p.names.machine(), "char")
	}
	return typ
}

func (p *parser) character(t token) *node {
	typ := p.wideType(t)
	return &node{op: literalOf, operand: scalar(typ, formOf(typ).cut(uint64(t.codes[0]))), column: t.start + 1}
}

// rustByte parses b'a', which is a u8.
func (p *parser) rustByte() *node {
	p.advance()
	t := p.token
	p.advance()
	typ, err := p.names.typeNamed("", "u8")
	if err != nil {
		return p.failWith(at(err, t.start+1))
	}
	return &node{op: literalOf, operand: basic{typ, formOf(typ)}.scalar(formOf(typ).cut(uint64(t.codes[0]))), column: t.start}
}

// string parses a string, or several adjacent ones, which are one. It is an array without an
// address.
func (p *parser) string() *node {
	first := p.token
	var codes []rune
	for p.token.kind == stringToken {
		if p.token.prefix != 0 {
			first.prefix = p.token.prefix
		}
		codes = append(codes, p.token.codes...)
		p.advance()
	}
	typ := p.wideType(first)
	size := int(typ.Size())
	b := make([]byte, 0, (len(codes)+1)*size)
	for _, c := range append(codes, 0) {
		b = appendUint(b, p.names.machine(), uint64(c), size)
	}
	return &node{op: literalOf, string: b, column: first.start + 1,
		operand: operand{kind: valueOperand, typ: value.ArrayOf(typ, uint64(len(codes)+1))}}
}
