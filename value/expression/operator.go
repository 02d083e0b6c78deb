// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression

// operator is the meaning of a token of punctuation or of a node of the tree.
type operator uint8

const (
	nop operator = iota

	// Binary operators, of tokens and nodes.
	comma
	assign
	assignAdd
	assignSubtract
	assignMultiply
	assignDivide
	assignRemainder
	assignShiftLeft
	assignShiftRight
	assignAnd
	assignOr
	assignXor
	question // of nodes: the conditional operator
	logicalOr
	logicalAnd
	bitOr
	bitXor
	bitAnd
	equal
	notEqual
	less
	lessEqual
	greater
	greaterEqual
	shiftLeft
	shiftRight
	repeat
	add
	subtract
	multiply
	divide
	remainder

	// Operators of tokens.
	logicalNot
	bitNot
	increment
	decrement
	arrow // of nodes: text is the member
	dot
	scopeOf
	colon
	openParenthesis
	closeParenthesis
	openBracket
	closeBracket
	openBrace
	closeBrace

	// Operators of nodes.
	literalOf     // operand
	variableOf    // symbol
	registerOf    // register
	convenienceOf // text is the name, without $
	historyOf     // index
	typeOf        // typ
	negate
	plus
	dereference
	addressOf
	preIncrement
	preDecrement
	postIncrement
	postDecrement
	sizeOf
	alignOf
	castTo    // typ
	memoryAs  // {typ} x
	subscript // x[y]
	callOf    // x(arguments)
)

// precedence is how tightly a binary operator binds, 0 for other tokens. gdb's @ is between shifts
// and sums.
var precedence = [...]uint8{
	comma:  1,
	assign: 2, assignAdd: 2, assignSubtract: 2, assignMultiply: 2, assignDivide: 2, assignRemainder: 2,
	assignShiftLeft: 2, assignShiftRight: 2, assignAnd: 2, assignOr: 2, assignXor: 2,
	question:  3,
	logicalOr: 4, logicalAnd: 5, bitOr: 6, bitXor: 7, bitAnd: 8,
	equal: 9, notEqual: 9,
	less: 10, lessEqual: 10, greater: 10, greaterEqual: 10,
	shiftLeft: 11, shiftRight: 11,
	repeat: 12,
	add:    13, subtract: 13,
	multiply: 14, divide: 14, remainder: 14,
	callOf: 0,
}

// rustPrecedence has the operators that bind differently in Rust: a & b == c is (a & b) == c.
var rustPrecedence = [len(precedence)]uint8{
	equal: 6, notEqual: 6, less: 6, lessEqual: 6, greater: 6, greaterEqual: 6,
	bitOr: 7, bitXor: 8, bitAnd: 9, add: 12, subtract: 12, repeat: 13,
}

// assigning are the binary operators of assignments, nop for the plain one.
var assigning = [...]operator{
	assignAdd: add, assignSubtract: subtract, assignMultiply: multiply, assignDivide: divide, assignRemainder: remainder,
	assignShiftLeft: shiftLeft, assignShiftRight: shiftRight, assignAnd: bitAnd, assignOr: bitOr, assignXor: bitXor,
}

var operatorText = [...]string{
	comma: ",", assign: "=", assignAdd: "+=", assignSubtract: "-=", assignMultiply: "*=", assignDivide: "/=",
	assignRemainder: "%=", assignShiftLeft: "<<=", assignShiftRight: ">>=", assignAnd: "&=", assignOr: "|=", assignXor: "^=",
	question: "?:", logicalOr: "||", logicalAnd: "&&", bitOr: "|", bitXor: "^", bitAnd: "&", equal: "==", notEqual: "!=",
	less: "<", lessEqual: "<=", greater: ">", greaterEqual: ">=", shiftLeft: "<<", shiftRight: ">>", repeat: "@",
	add: "+", subtract: "-", multiply: "*", divide: "/", remainder: "%", logicalNot: "!", bitNot: "~",
	arrow: "->", dot: ".", negate: "-", plus: "+", dereference: "*", addressOf: "&",
	preIncrement: "++", preDecrement: "--", postIncrement: "++", postDecrement: "--", sizeOf: "sizeof", alignOf: "_Alignof",
	subscript: "[]", callOf: "()",
}

func (o operator) String() string {
	if int(o) < len(operatorText) {
		return operatorText[o]
	}
	return ""
}
