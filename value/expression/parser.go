// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
)

const (
	maxText  = 1 << 16 // of an expression, in bytes
	maxDepth = 500     // of nesting, which is also that of evaluation
)

// node is a part of an expression. Nodes are not changed after parsing.
type node struct {
	op      operator
	column  int
	depth   int
	x, y, z *node

	text      string      // of a member, a convenience variable
	scope     []string    // of a member: the class before it
	typ       *value.Type // of casts, types
	symbol    *symbol     // of variableOf
	register  *register   // of registerOf
	operand   operand     // of literalOf
	string    []byte      // of a literal that is a string: its bytes
	index     int         // of historyOf: $n
	relative  bool        // of historyOf: $$n
	arguments []*node     // of callOf
}

// names defines the meaning of names.
type names interface {
	machine() *arch.Machine
	language() value.Language
	// symbol returns the meaning of a name. scope is "", or the file or function in which the
	// name is looked up.
	symbol(scope, name string) (*symbol, error)
	// typeNamed returns the type with a name. keyword is struct, union or enum, or "" for base
	// types and typedefs.
	typeNamed(keyword, name string) (*value.Type, error)
	register(name string) *register
	// this returns the object that has the member with a name, in a function of its class, or
	// nil. If isCall is true, the member can be a method.
	this(name string, isCall bool) *symbol
	// template reports whether there is an instance of a template with a name.
	template(name string) bool
	// classMember returns a static member or function of a class of C++, or nil.
	classMember(class, name string) *symbol
}

// parser builds the tree of an expression. Its error is sticky: the first one, its own or the
// scanner's.
type parser struct {
	scanner scanner
	names   names
	token   token
	peeked  []token // after token
	previous,
	depth int
	err error
}

func parse(text string, n names) (*node, error) {
	if len(text) > maxText {
		return nil, &Error{Column: maxText + 1, Message: fmt.Sprintf("The expression is longer than %d bytes.", maxText)}
	}
	p := &parser{scanner: scanner{text: text, template: n.template}, names: n}
	p.token = p.scanner.next()
	if p.token.kind == endToken && p.scanner.err == nil {
		return nil, &Error{Column: 1, Message: "The expression is empty."}
	}
	tree := p.expression(1)
	if p.failed() {
		return nil, p.error()
	}
	if p.token.kind != endToken {
		if p.is(closeParenthesis) || p.is(closeBracket) || p.is(closeBrace) {
			p.fail(p.token.start, "Junk after end of expression.")
		} else {
			p.syntax()
		}
		return nil, p.error()
	}
	return tree, nil
}

func (p *parser) failed() bool { return p.err != nil || p.scanner.err != nil }

func (p *parser) error() error {
	if p.err != nil {
		return p.err
	}
	return p.scanner.err
}

func (p *parser) fail(offset int, message string) *node {
	return p.failWith(&Error{Column: offset + 1, Message: message})
}

func (p *parser) failWith(err error) *node {
	if !p.failed() {
		p.err = err
	}
	return &node{op: typeOf}
}

func (p *parser) syntax() *node {
	if p.failed() {
		return p.failWith(nil)
	}
	return p.fail(p.token.start, "A syntax error in expression, near `"+p.scanner.text[p.token.start:]+"'.")
}

func (p *parser) advance() {
	p.previous = p.token.end
	if len(p.peeked) > 0 {
		p.token, p.peeked = p.peeked[0], p.peeked[1:]
		return
	}
	p.token = p.scanner.next()
}

// peek returns the n-th token after the current one, from 0.
func (p *parser) peek(n int) token {
	for len(p.peeked) <= n {
		p.peeked = append(p.peeked, p.scanner.next())
	}
	return p.peeked[n]
}

func (p *parser) is(op operator) bool { return p.token.kind == operatorToken && p.token.op == op }

func (t token) is(op operator) bool { return t.kind == operatorToken && t.op == op }

func (p *parser) accept(op operator) bool {
	if !p.is(op) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(op operator) {
	if !p.accept(op) {
		p.syntax()
	}
}

// enter counts a level of nesting. The caller must call leave, also if it returns false.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.fail(p.token.start, fmt.Sprintf("The expression is nested more than %d levels deep.", maxDepth))
	}
	return !p.failed()
}

func (p *parser) leave() { p.depth-- }

// tree returns a node with an operator and its operands.
func (p *parser) tree(op operator, offset int, operands ...*node) *node {
	n := &node{op: op, column: offset + 1}
	for i, o := range operands {
		n.depth = max(n.depth, o.depth+1)
		switch i {
		case 0:
			n.x = o
		case 1:
			n.y = o
		case 2:
			n.z = o
		}
	}
	if n.depth > maxDepth {
		p.fail(offset, fmt.Sprintf("The expression is nested more than %d levels deep.", maxDepth))
	}
	return n
}

// expression parses operators that bind at least as tightly as level.
func (p *parser) expression(level uint8) *node {
	defer p.leave()
	if !p.enter() {
		return p.failWith(nil)
	}
	x := p.unary()
	for !p.failed() && p.isKeyword("as") && p.names.language() == value.Rust {
		offset := p.token.start
		p.advance()
		t := p.rustType()
		x = p.tree(castTo, offset, x)
		x.typ = t
	}
	for !p.failed() && p.token.kind == operatorToken && int(p.token.op) < len(precedence) {
		op, offset := p.token.op, p.token.start
		binds := precedence[op]
		if p.names.language() == value.Rust {
			binds = cmp.Or(rustPrecedence[op], binds)
		}
		if binds == 0 || binds < level {
			break
		}
		p.advance()
		switch binds {
		case precedence[question]:
			y := p.expression(precedence[assign])
			p.expect(colon)
			x = p.tree(question, offset, x, y, p.expression(binds))
		case precedence[assign]: // binds to the right
			x = p.tree(op, offset, x, p.expression(binds))
		default:
			x = p.tree(op, offset, x, p.expression(binds+1))
		}
	}
	return x
}

var prefixes = [256]operator{
	subtract: negate, add: plus, multiply: dereference, bitAnd: addressOf, logicalNot: logicalNot, bitNot: bitNot,
	increment: preIncrement, decrement: preDecrement,
}

func (p *parser) unary() *node {
	offset := p.token.start
	if p.token.kind == operatorToken {
		if op := prefixes[p.token.op]; op == bitNot && p.names.language() == value.Rust {
			return p.fail(offset, "Rust has no operator ~; it is !.")
		} else if op != nop {
			p.advance()
			return p.tree(op, offset, p.operand())
		}
	}
	switch {
	case p.is(openParenthesis) && p.startsType(p.peek(0), p.peek(1)):
		p.advance()
		t := p.typeName()
		p.expect(closeParenthesis)
		if p.startsOperand() {
			n := p.tree(castTo, offset, p.operand())
			n.typ = t
			return n
		}
		return &node{op: typeOf, typ: t, column: offset + 1}
	case p.is(openBrace):
		p.advance()
		t := p.typeName()
		p.expect(closeBrace)
		n := p.tree(memoryAs, offset, p.operand())
		n.typ = t
		return n
	case p.isKeyword("sizeof"):
		return p.sizeOf(sizeOf)
	case p.isKeyword("_Alignof"), p.isKeyword("alignof"):
		return p.sizeOf(alignOf)
	case p.startsType(p.token, p.peek(0)):
		return &node{op: typeOf, typ: p.typeName(), column: offset + 1}
	}
	return p.postfix(p.primary())
}

// operand parses the operand of a prefix operator or a cast.
func (p *parser) operand() *node {
	defer p.leave()
	if !p.enter() {
		return p.failWith(nil)
	}
	return p.unary()
}

// startsOperand reports whether an operand of a cast follows its type.
func (p *parser) startsOperand() bool {
	if p.token.kind != operatorToken {
		return p.token.kind != endToken
	}
	return prefixes[p.token.op] != nop || p.is(openParenthesis) || p.is(openBrace)
}

func (p *parser) sizeOf(op operator) *node {
	offset := p.token.start
	p.advance()
	if p.is(openParenthesis) && p.startsType(p.peek(0), p.peek(1)) {
		p.advance()
		n := p.tree(op, offset, &node{op: typeOf, typ: p.typeName(), column: p.previous + 1})
		p.expect(closeParenthesis)
		return n
	}
	if p.startsType(p.token, p.peek(0)) {
		return p.syntax()
	}
	return p.tree(op, offset, p.operand())
}

func (p *parser) postfix(x *node) *node {
	for !p.failed() {
		offset := p.token.start
		switch {
		case p.accept(openBracket):
			x = p.tree(subscript, offset, x, p.expression(precedence[comma]))
			p.expect(closeBracket)
		case p.is(arrow) || p.is(dot):
			op := p.token.op
			p.advance()
			if p.is(multiply) {
				return p.fail(offset, "The console does not use pointers to members; \"clew debug --gdb\" does.")
			}
			if p.token.kind != nameToken {
				return p.syntax()
			}
			x = p.tree(op, offset, x)
			x.text = p.token.text
			p.advance()
			for p.is(scopeOf) && p.peek(0).kind == nameToken { // x.base::member
				p.advance()
				x.scope = append(x.scope, x.text)
				x.text = p.token.text
				p.advance()
			}
		case p.token.kind == numberToken && p.token.text[0] == '.' && p.names.language() == value.Rust: // tuple.0.name
			for _, field := range strings.Split(p.token.text[1:], ".") {
				if field == "" {
					return p.syntax()
				}
				x = p.tree(dot, offset, x)
				if x.text = field; isDigit(field[0]) {
					x.text = rustTuple + field
				}
			}
			p.advance()
		case p.accept(openParenthesis):
			x = p.tree(callOf, offset, x)
			for !p.failed() && !p.accept(closeParenthesis) {
				if len(x.arguments) > 0 {
					p.expect(comma)
				}
				x.arguments = append(x.arguments, p.expression(precedence[assign]))
				x.depth = max(x.depth, x.arguments[len(x.arguments)-1].depth+1)
			}
		case p.accept(increment):
			x = p.tree(postIncrement, offset, x)
		case p.accept(decrement):
			x = p.tree(postDecrement, offset, x)
		default:
			return x
		}
	}
	return x
}

func (p *parser) primary() *node {
	t := p.token
	switch t.kind {
	case numberToken:
		p.advance()
		number := p.number
		if p.names.language() == value.Rust {
			number = p.rustNumber
		}
		o, err := number(t.text)
		if err != "" {
			return p.fail(t.start, err)
		}
		return &node{op: literalOf, operand: o, column: t.start + 1}
	case characterToken:
		p.advance()
		return p.character(t)
	case stringToken:
		return p.string()
	case dollarToken:
		p.advance()
		return p.dollar(t)
	case nameToken:
		if next := p.peek(0); t.text == "b" && next.start == t.end && p.names.language() == value.Rust {
			switch next.kind {
			case characterToken:
				return p.rustByte()
			case stringToken:
				return p.fail(t.start, "The console does not have byte strings; \"clew debug --gdb\" does.")
			}
		}
		return p.name()
	case operatorToken:
		if p.accept(openParenthesis) {
			x := p.expression(precedence[comma])
			if x.op == comma && p.names.language() == value.Rust {
				return p.fail(t.start, "The console does not make tuples.")
			}
			p.expect(closeParenthesis)
			return x
		}
		if t.op == scopeOf && p.peek(0).kind == nameToken { // ::x is the global
			p.advance()
			return p.symbol("::")
		}
	}
	return p.syntax()
}

// name parses a variable, function or enumerator, and file.c::x, function::x.
func (p *parser) name() *node {
	if !p.peek(0).is(scopeOf) {
		return p.symbol("")
	}
	if first, _, found := strings.Cut(p.token.text, "."); found {
		// It is the name of a file, or a variable with a member of a base class.
		if s, err := p.names.symbol("", first); err == nil && s.variable != nil {
			p.scanner.offset, p.peeked = p.token.start+len(first), nil
			p.token.text, p.token.end = first, p.scanner.offset
			return p.symbol("")
		}
	}
	scope := p.token.text
	for !p.failed() && p.peek(0).is(scopeOf) {
		p.advance()
		p.advance()
		if p.is(less) && p.names.language() == value.Rust {
			return p.fail(p.token.start, "The console does not have ::<>; \"clew debug --gdb\" does.")
		}
		if p.token.kind != nameToken {
			return p.syntax()
		}
		if p.peek(0).is(scopeOf) {
			scope += "::" + p.token.text
		}
	}
	return p.symbol(scope)
}

func (p *parser) symbol(scope string) *node {
	t := p.token
	if scope == "" {
		if n := p.implicit(t); n != nil {
			p.advance()
			return n
		}
	}
	s, err := p.meaning(scope, t.text)
	if err != nil && scope == "" && (t.text == "true" || t.text == "false") {
		if l := p.names.language(); l == value.CPlusPlus || l == value.Rust {
			p.advance()
			truth := basic{truthType(p.names.machine(), l), form{kind: value.Bool, size: 1}}
			return &node{op: literalOf, operand: truth.scalar(map[string]uint64{"true": 1}[t.text]), column: t.start + 1}
		}
	}
	if err != nil && isWordOfCPlusPlus(t.text) && p.names.language() == value.CPlusPlus {
		return p.fail(t.start, fmt.Sprintf("The console does not have %s; \"clew debug --gdb\" does. A cast is written (type)value.", t.text))
	}
	if err != nil {
		return p.failWith(at(err, t.start+1))
	}
	p.advance()
	if s.typ != nil {
		return &node{op: typeOf, typ: s.typ, column: t.start + 1}
	}
	return &node{op: variableOf, symbol: s, column: t.start + 1}
}

// isWordOfCPlusPlus reports whether a name is an operator of C++ that this package does not have.
func isWordOfCPlusPlus(name string) bool {
	switch name {
	case "static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "typeid":
		return true
	}
	return false
}

// dollar parses a token that begins with $.
func (p *parser) dollar(t token) *node {
	n := &node{op: historyOf, column: t.start + 1, relative: true}
	name := t.text[1:]
	if name != "" && name[0] == '$' {
		name, n.index = name[1:], 1
	}
	if name == "" {
		return n
	}
	if isDigit(name[0]) {
		index, err := strconv.Atoi(name)
		if err != nil || index > 1<<30 {
			return p.fail(t.start, "Invalid history number.")
		}
		n.index, n.relative = index, n.index == 1
		return n
	}
	if r := p.names.register(t.text[1:]); r != nil {
		return &node{op: registerOf, register: r, column: t.start + 1}
	}
	return &node{op: convenienceOf, text: t.text[1:], column: t.start + 1}
}
