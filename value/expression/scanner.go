// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"strings"
	"unicode/utf8"

	"github.com/clewdev/clew/value/internal/spelling"
)

type tokenKind uint8

const (
	endToken    tokenKind = iota
	nameToken             // an identifier, also in single quotes
	dollarToken           // $name: a register, history or convenience variable
	numberToken           // not parsed yet
	characterToken
	stringToken
	operatorToken // op
)

type token struct {
	kind   tokenKind
	op     operator
	quoted bool   // of a name
	prefix byte   // of characters and strings: 0, or L, u or U
	text   string // of names and numbers
	codes  []rune // the characters of a constant or string; without a prefix, bytes
	start  int    // offset in the expression's text
	end    int
}

// scanner splits an expression into tokens. Its error is sticky: after it, all tokens are endToken.
type scanner struct {
	text   string
	offset int
	err    error

	// template reports whether the program has an instance of a template with a qualified
	// name: without one, "<" is an operator.
	template  func(name string) bool
	qualified int // the offset at which the qualified name of the last token begins
	scoped    bool
}

func isNameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNamePart(c byte) bool { return isNameStart(c) || isDigit(c) || c == '$' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (s *scanner) fail(start int, message string) token {
	if s.err == nil {
		s.err = &Error{Column: start + 1, Message: message}
	}
	s.offset = len(s.text)
	return token{kind: endToken, start: s.offset, end: s.offset}
}

// operators are sorted by length, longest first.
var operators = [...]struct {
	text string
	op   operator
}{
	{"<<=", assignShiftLeft}, {">>=", assignShiftRight},
	{"->", arrow}, {"++", increment}, {"--", decrement}, {"&&", logicalAnd}, {"||", logicalOr}, {"::", scopeOf},
	{"==", equal}, {"!=", notEqual}, {"<=", lessEqual}, {">=", greaterEqual}, {"<<", shiftLeft}, {">>", shiftRight},
	{"+=", assignAdd}, {"-=", assignSubtract}, {"*=", assignMultiply}, {"/=", assignDivide}, {"%=", assignRemainder},
	{"&=", assignAnd}, {"|=", assignOr}, {"^=", assignXor},
	{"+", add}, {"-", subtract}, {"*", multiply}, {"/", divide}, {"%", remainder}, {"@", repeat},
	{"&", bitAnd}, {"|", bitOr}, {"^", bitXor}, {"<", less}, {">", greater}, {"=", assign},
	{"!", logicalNot}, {"~", bitNot}, {"?", question}, {":", colon}, {",", comma}, {".", dot},
	{"(", openParenthesis}, {")", closeParenthesis}, {"[", openBracket}, {"]", closeBracket}, {"{", openBrace}, {"}", closeBrace},
}

// next returns the next token.
func (s *scanner) next() token {
	for s.offset < len(s.text) && isSpace(s.text[s.offset]) {
		s.offset++
	}
	start := s.offset
	rest := s.text[start:]
	if rest == "" {
		return token{kind: endToken, start: start, end: start}
	}
	c := rest[0]
	switch {
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return s.take(numberToken, numberLength(rest))
	case c == '\'':
		return s.quoted(start, 0)
	case c == '"':
		return s.literal(stringToken, start, 0)
	case (c == 'L' || c == 'u' || c == 'U') && len(rest) > 1 && rest[1] == '"':
		s.offset++
		return s.literal(stringToken, start, c)
	case (c == 'L' || c == 'u' || c == 'U') && len(rest) > 1 && rest[1] == '\'':
		s.offset++
		return s.quoted(start, c)
	case isNameStart(c):
		if !s.scoped {
			s.qualified = start
		}
		s.scoped = false
		if n := s.templateLength(rest); n > 0 {
			t := s.take(nameToken, n)
			t.text = spelling.Last(spelling.Canonical(t.text))
			return t
		}
		return s.take(nameToken, nameLength(rest))
	case c == '$':
		n := 1
		for n < len(rest) && isNamePart(rest[n]) {
			n++
		}
		return s.take(dollarToken, n)
	}
	for _, o := range operators {
		if strings.HasPrefix(rest, o.text) {
			t := s.take(operatorToken, len(o.text))
			t.op = o.op
			s.scoped = o.op == scopeOf && s.qualified < start && s.isScope(start)
			return t
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return s.fail(start, "Invalid character '"+string(r)+"' in expression.")
}

// isScope reports whether the text from the beginning of the last qualified name up to an offset
// is that name.
func (s *scanner) isScope(end int) bool {
	name := strings.TrimSpace(s.text[s.qualified:end])
	return name != "" && isNameStart(name[0]) && (isNamePart(name[len(name)-1]) || name[len(name)-1] == '>')
}

// maxTemplate bounds the length of the name of an instance of a template, in bytes.
const maxTemplate = 4096

// templateLength returns the length of the name of an instance of a template at the start of
// text, "box<int>", or 0.
func (s *scanner) templateLength(text string) int {
	n := 0
	for n < len(text) && isNamePart(text[n]) {
		n++
	}
	open := n + len(text[n:]) - len(strings.TrimLeft(text[n:], " "))
	if s.template == nil || open == len(text) || text[open] != '<' {
		return 0
	}
	depth := 0
	for k := open; k < min(len(text), maxTemplate); k++ {
		switch text[k] {
		case '<', '(', '[':
			depth++
		case ')', ']':
			depth--
		case '>':
			if depth--; depth == 0 {
				if s.template(s.text[s.qualified:s.offset] + text[:n] + text[open:k+1]) {
					return k + 1
				}
				return 0
			}
		}
		if depth < 0 {
			break
		}
	}
	return 0
}

func (s *scanner) take(kind tokenKind, n int) token {
	t := token{kind: kind, text: s.text[s.offset : s.offset+n], start: s.offset, end: s.offset + n}
	s.offset += n
	return t
}

// nameLength returns the length of the name at the start of text. The name of a file before ::
// (dir/t.c::counter) is one name, also without quotes.
func nameLength(text string) int {
	n := 0
	for n < len(text) && isNamePart(text[n]) {
		n++
	}
	file := n
	for file < len(text) && (isNamePart(text[file]) || text[file] == '.') {
		file++
	}
	if file > n && strings.HasPrefix(text[file:], "::") {
		return file
	}
	return n
}

// numberLength returns the length of the number at the start of text. Like a preprocessing number
// (C11 §6.4.8), a number includes all letters after it.
func numberLength(text string) int {
	hex := len(text) > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')
	n := 0
	for n < len(text) {
		c := text[n]
		switch {
		case (c == '+' || c == '-') && n > 0:
			e := text[n-1] | 0x20
			if !(e == 'e' && !hex || e == 'p') {
				return n
			}
		case !isNamePart(c) && c != '.':
			return n
		}
		n++
	}
	return n
}

// quoted scans a character constant or a name in single quotes, which is everything else in single
// quotes ('t.c', 'main').
func (s *scanner) quoted(start int, prefix byte) token {
	open := s.offset
	t := s.literal(characterToken, start, prefix)
	switch {
	case s.err != nil || len(t.codes) == 1:
		return t
	case len(t.codes) == 0:
		return s.fail(start, "A character constant must contain at least one character.")
	}
	name := s.text[open+1 : t.end-1]
	if prefix != 0 || len(t.codes) == 2 || strings.Contains(name, `\`) {
		return s.fail(start, "Invalid character constant.")
	}
	t.kind, t.text, t.quoted = nameToken, name, true
	return t
}

// literal scans from an opening quote to the closing one.
func (s *scanner) literal(kind tokenKind, start int, prefix byte) token {
	quote := s.text[s.offset]
	s.offset++
	var codes []rune
	for {
		if s.offset >= len(s.text) {
			if quote == '\'' {
				return s.fail(start, "Unmatched single quote.")
			}
			return s.fail(start, "Unterminated string in expression.")
		}
		c := s.text[s.offset]
		switch {
		case c == quote:
			s.offset++
			return token{kind: kind, prefix: prefix, codes: codes, start: start, end: s.offset}
		case c == '\\':
			s.offset++
			r, ok := s.escape()
			if !ok {
				return s.fail(start, "Invalid escape sequence.")
			}
			codes = append(codes, r)
		case prefix == 0:
			// A string without prefix consists of the bytes of the text in any encoding.
			codes = append(codes, rune(c))
			s.offset++
		default:
			r, n := utf8.DecodeRuneInString(s.text[s.offset:])
			codes = append(codes, r)
			s.offset += n
		}
	}
}

var escapes = [256]rune{'a': 7, 'b': 8, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11, 'e': 27,
	'\\': '\\', '\'': '\'', '"': '"', '?': '?'}

// escape scans an escape sequence after its backslash: C11 §6.4.4.4, and \e.
func (s *scanner) escape() (rune, bool) {
	if s.offset >= len(s.text) {
		return 0, false
	}
	c := s.text[s.offset]
	s.offset++
	if r := escapes[c]; r != 0 {
		return r, true
	}
	if c >= '0' && c <= '7' {
		s.offset--
		return s.digits(8, 3)
	}
	switch c {
	case 'x':
		return s.digits(16, len(s.text))
	case 'u':
		if rest, ok := strings.CutPrefix(s.text[s.offset:], "{"); ok { // of Rust
			digits, _, closed := strings.Cut(rest, "}")
			s.offset++
			r, ok := s.digits(16, len(digits))
			if !ok || !closed || s.text[s.offset] != '}' {
				return 0, false
			}
			s.offset++
			return r, true
		}
		return s.digits(16, 4)
	case 'U':
		return s.digits(16, 8)
	}
	return 0, false
}

// digits scans a number. As in gdb, one that is too large loses its high digits.
func (s *scanner) digits(base rune, limit int) (rune, bool) {
	var r rune
	n := 0
	for ; n < limit && s.offset < len(s.text); n++ {
		d := digitValue(s.text[s.offset])
		if d < 0 || d >= base {
			break
		}
		r = r*base + d
		s.offset++
	}
	return r, n > 0
}

func digitValue(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case c >= 'a' && c <= 'z':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return rune(c-'A') + 10
	}
	return -1
}
