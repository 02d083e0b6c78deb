// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/internal/spelling"
)

// isTypeKeyword reports whether a keyword can begin the name of a type.
func isTypeKeyword(word string) bool {
	switch word {
	case "unsigned", "signed", "long", "short", "int", "char", "float", "double",
		"void", "_Bool", "__int128", "struct", "union", "class", "enum", "const", "volatile",
		"restrict", "_Atomic", "typeof", "__typeof__", "__typeof":
		return true
	}
	return false
}

// isTypeKeyword is isTypeKeyword for the language of the code: C's words can be names in Rust, and
// C++'s in C.
func (p *parser) isTypeKeyword(word string) bool {
	if !isTypeKeyword(word) || word == "class" && p.names.language() == value.C {
		return false
	}
	return p.names.language() != value.Rust || word == "struct" || word == "enum"
}

func (p *parser) isKeyword(word string) bool { return p.token.isKeyword(word) }

func (t token) isKeyword(word string) bool {
	return t.kind == nameToken && !t.quoted && t.text == word
}

// startsType reports whether a token, followed by next, begins the name of a type. Before "::" the
// name of a class is a scope.
func (p *parser) startsType(t, next token) bool {
	if t.kind != nameToken || t.quoted && !strings.Contains(t.text, "<") {
		return false
	}
	if next.is(scopeOf) {
		found, _ := p.scopedType(t)
		return found != nil
	}
	if p.isTypeKeyword(t.text) {
		return true
	}
	if strings.ContainsRune(t.text, '.') {
		return false
	}
	return p.typeWord(t.text) != nil
}

// scopedType returns the type with the qualified name that begins at a token, which is the current
// token or the one after it, and the number of tokens that follow the first. It returns nil if the
// name is not a type.
func (p *parser) scopedType(t token) (*value.Type, int) {
	name, k := t.text, 0
	if t.start != p.token.start {
		k = 1
	}
	tokens := 0
	for p.peek(k).is(scopeOf) && p.peek(k+1).kind == nameToken {
		name += "::" + p.peek(k+1).text
		k, tokens = k+2, tokens+2
	}
	if tokens == 0 || strings.ContainsRune(name, '.') {
		return nil, 0
	}
	found, err := p.names.typeNamed("", name)
	if err != nil {
		return nil, 0
	}
	return found, tokens
}

// typeName parses a type and an abstract declarator (C11 §6.7.7).
func (p *parser) typeName() *value.Type {
	t := p.specifiers()
	t = p.declarator()(t)
	if p.names.language() == value.CPlusPlus && p.accept(bitAnd) {
		t = value.ReferenceTo(t)
	}
	return t
}

// rustType parses the type of a cast in Rust: f64, *const T, &mut T. A "*" after it multiplies.
func (p *parser) rustType() *value.Type {
	defer p.leave()
	if !p.enter() {
		return p.void()
	}
	switch {
	case p.is(multiply) && (p.peek(0).isKeyword("const") || p.peek(0).isKeyword("mut")):
		p.advance()
		p.advance()
		return value.PointerTo(p.rustType())
	case p.accept(bitAnd):
		if p.isKeyword("mut") {
			p.advance()
		}
		return value.PointerTo(p.rustType())
	}
	return p.specifiers()
}

// specifiers parses the words before a declarator.
func (p *parser) specifiers() (t *value.Type) {
	start := p.token.start
	var words []string
	var named *value.Type
	var qualifiers []string
	defer func() { t = qualified(t, qualifiers) }()
	for !p.failed() && p.token.kind == nameToken && (!p.token.quoted || strings.Contains(p.token.text, "<")) {
		word := p.token.text
		switch {
		case isQualifier(word):
			qualifiers = append(qualifiers, word)
			p.advance()
		case named != nil:
			return p.base(words, start, named)
		case word == "struct" || word == "union" || word == "class" && p.isTypeKeyword(word) || word == "enum":
			p.advance()
			if p.token.kind != nameToken {
				p.syntax()
				break
			}
			t, err := p.names.typeNamed(word, p.token.text)
			if err != nil {
				p.failWith(at(err, p.token.start+1))
			}
			named = t
			p.advance()
		case strings.HasPrefix(word, "typeof") || strings.HasPrefix(word, "__typeof"):
			named = p.typeOf()
		case p.isTypeKeyword(word):
			words = append(words, word)
			p.advance()
		case len(words) > 0:
			return p.base(words, start, nil)
		default:
			tokens := 0
			if p.peek(0).is(scopeOf) {
				named, tokens = p.scopedType(p.token)
			} else {
				named = p.typeWord(word)
			}
			if named == nil {
				return p.base(words, start, nil)
			}
			for range tokens {
				p.advance()
			}
			p.advance()
		}
	}
	return p.base(words, start, named)
}

// qualified returns a type with the qualifiers in a list.
func qualified(t *value.Type, words []string) *value.Type {
	for word, kind := range map[string]value.Kind{"const": value.Const, "volatile": value.Volatile, "_Atomic": value.Atomic} {
		if slices.Contains(words, word) {
			t = value.Qualified(t, kind)
		}
	}
	return t
}

func isQualifier(word string) bool {
	switch word {
	case "const", "volatile", "restrict", "_Atomic":
		return true
	}
	return false
}

// typeOf parses typeof of an expression or a type.
func (p *parser) typeOf() *value.Type {
	offset := p.token.start
	p.advance()
	p.expect(openParenthesis)
	x := p.expression(precedence[comma])
	p.expect(closeParenthesis)
	if p.failed() {
		return p.void()
	}
	t, err := typeOfNode(x, p.names)
	if err != nil {
		p.failWith(at(err, offset+1))
		return p.void()
	}
	return t
}

func (p *parser) void() *value.Type { return value.Base(p.names.machine(), "void") }

// base returns named, or if it is nil the base type that words mean in any order (C11 §6.7.2).
func (p *parser) base(words []string, offset int, named *value.Type) *value.Type {
	name := spelling.Base(words)
	if named == nil && len(words) == 2 && words[0] == "unsigned" && (words[1] == "void" || words[1] == "_Bool") {
		name = "unsigned " + words[1] // as in gdb, valid syntax without a meaning
	}
	if (named != nil) != (len(words) == 0) || named == nil && name == "" {
		p.syntax()
	}
	switch {
	case p.failed():
		return p.void()
	case named != nil:
		return named
	}
	if name == "_Bool" { // the program can have it as bool
		if t, err := p.names.typeNamed("", name); err == nil {
			return t
		}
	}
	t := value.Base(p.names.machine(), name)
	if t == nil {
		p.fail(offset, "No type named "+name+".")
		return p.void()
	}
	return t
}

// maxTypeSize bounds the size of an array type in bytes, to that of the address space of machines.
const maxTypeSize = 1 << 56

// declarator parses an abstract declarator and returns a function that applies it to a type.
func (p *parser) declarator() func(*value.Type) *value.Type {
	defer p.leave()
	if !p.enter() {
		return func(t *value.Type) *value.Type { return t }
	}
	var pointers [][]string // the qualifiers of each
	for p.accept(multiply) {
		var words []string
		for p.token.kind == nameToken && isQualifier(p.token.text) {
			words = append(words, p.token.text)
			p.advance()
		}
		pointers = append(pointers, words)
		if len(pointers) > maxDepth {
			p.syntax()
		}
	}
	inner := func(t *value.Type) *value.Type { return t }
	if p.is(openParenthesis) {
		if n := p.peek(0); n.is(multiply) || n.is(openParenthesis) || n.is(openBracket) {
			p.advance()
			inner = p.declarator()
			p.expect(closeParenthesis)
		}
	}
	suffix := p.suffix()
	return func(t *value.Type) *value.Type {
		for _, words := range pointers {
			t = qualified(value.PointerTo(t), words)
		}
		return inner(suffix(t))
	}
}

// suffix parses the [3][4] or (int, char *) of a declarator.
func (p *parser) suffix() func(*value.Type) *value.Type {
	defer p.leave()
	if !p.enter() {
		return func(t *value.Type) *value.Type { return t }
	}
	offset := p.token.start
	switch {
	case p.accept(openBracket):
		n := uint64(0)
		if p.token.kind == numberToken {
			o, err := p.number(p.token.text)
			if err != "" || o.form.kind != value.Int {
				p.syntax()
			}
			n = o.bits
			p.advance()
		}
		p.expect(closeBracket)
		inner := p.suffix()
		return func(t *value.Type) *value.Type {
			t = inner(t)
			if high, low := bits.Mul64(n, t.Size()); high != 0 || low > maxTypeSize {
				p.fail(offset, "The array type is too large.")
				return t
			}
			return value.ArrayOf(t, n)
		}
	case p.accept(openParenthesis):
		parameters, variadic := p.parameters()
		return func(t *value.Type) *value.Type { return value.FuncOf(t, parameters, variadic) }
	}
	return func(t *value.Type) *value.Type { return t }
}

// parameters parses the types of a function's parameters up to the closing parenthesis.
func (p *parser) parameters() (types []*value.Type, variadic bool) {
	for !p.failed() && !p.accept(closeParenthesis) {
		if len(types) > 0 {
			p.expect(comma)
		}
		if p.is(dot) && p.peek(0).is(dot) && p.peek(1).is(dot) {
			p.advance()
			p.advance()
			p.advance()
			p.expect(closeParenthesis)
			return types, true
		}
		if !p.startsType(p.token, p.peek(0)) {
			p.syntax()
			break
		}
		types = append(types, p.typeName())
	}
	if len(types) == 1 && types[0].Kind() == value.Void {
		return nil, false
	}
	return types, false
}
