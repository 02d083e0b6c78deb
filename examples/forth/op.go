// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import "sync"

// opcode is the operation of an op.
type opcode uint8

// Comments have the stack effects in Forth's notation: the items that an op takes, then those that it
// leaves. The top is the rightmost.
const (
	opLiteral    opcode = iota // ( -- n )
	opCall                     // calls the word n
	opReturn                   // returns from the word
	opLabel                    // n is the label
	opBranch                   // branches to the label n
	opBranchZero               // ( flag -- ) branches to the label n if the flag is 0
	opDo                       // ( limit index -- ) moves both to the return stack
	opQuestionDo               // ( limit index -- ) as opDo, or branches to the label n if both are equal
	opLoop                     // adds 1 to the index; branches to the label n unless it is the limit
	opPlusLoop                 // ( n -- ) adds n to the index; branches to the label unless it crossed the limit
	opUnloop                   // removes limit and index from the return stack
	opIndex                    // ( -- index ) of the loop below depth on the return stack
	opToR                      // ( x -- ) moves x to the return stack
	opFromR                    // ( -- x ) moves x from the return stack
	opRFetch                   // ( -- x ) copies x from the return stack
	opPause                    // waits in a function of the host

	opDup  // ( a -- a a )
	opQDup // ( a -- a a ) or ( 0 -- 0 )
	opDrop // ( a -- )
	opSwap // ( a b -- b a )
	opOver // ( a b -- a b a )
	opRot  // ( a b c -- b c a )
	opNRot // ( a b c -- c a b )
	opNip  // ( a b -- b )
	opTuck // ( a b -- b a b )
	op2Dup // ( a b -- a b a b )
	op2Drop

	opAdd // ( a b -- a+b ) and so on
	opSub
	opMul
	opDiv     // rounds towards 0, as the machines do
	opMod     // has the sign of the dividend
	opDivMod  // ( a b -- a%b a/b )
	opUDivMod // the same without signs
	opAnd
	opOr
	opXor
	opLShift // by the lowest 6 bits, as the machines do
	opRShift // without sign
	opMin
	opMax
	opInvert // ( a -- ^a ) and so on
	opNegate
	opAbs
	opInc
	opDec
	opDouble
	opHalve // with sign
	opCells

	opEqual // ( a b -- flag ) -1 is true
	opNotEqual
	opLess
	opGreater
	opLessEqual
	opGreaterEqual
	opULess
	opUGreater
	opZeroEqual // ( a -- flag )
	opZeroNotEqual
	opZeroLess
	opZeroGreater

	opFetch // ( address -- x )
	opStore // ( x address -- )
	opPlusStore
	opCFetch
	opCStore
	opEmit // ( character -- )

	lastOp = opEmit
)

// op is an operation of a word.
type op struct {
	code  opcode
	n     int64
	depth depth // return stack: after opLabel, at opReturn, above the loop of opIndex
	at    position
}

// depth is the number of a word's items on the return stack.
type depth struct {
	cells int // of >r
	loops int // with a limit and an index each
}

// primitives are the words that consist of one op.
var primitives = sync.OnceValue(func() map[string]opcode {
	return map[string]opcode{
		">r": opToR, "r>": opFromR, "r@": opRFetch, "pause": opPause,

		"dup": opDup, "?dup": opQDup, "drop": opDrop, "swap": opSwap, "over": opOver, "rot": opRot,
		"-rot": opNRot, "nip": opNip, "tuck": opTuck, "2dup": op2Dup, "2drop": op2Drop,

		"+": opAdd, "-": opSub, "*": opMul, "/": opDiv, "mod": opMod, "/mod": opDivMod, "u/mod": opUDivMod,
		"and": opAnd, "or": opOr, "xor": opXor, "lshift": opLShift, "rshift": opRShift, "min": opMin, "max": opMax,
		"invert": opInvert, "negate": opNegate, "abs": opAbs, "1+": opInc, "1-": opDec, "2*": opDouble, "2/": opHalve,
		"cells": opCells,

		"=": opEqual, "<>": opNotEqual, "<": opLess, ">": opGreater, "<=": opLessEqual, ">=": opGreaterEqual,
		"u<": opULess, "u>": opUGreater, "0=": opZeroEqual, "0<>": opZeroNotEqual, "0<": opZeroLess, "0>": opZeroGreater,

		"@": opFetch, "!": opStore, "+!": opPlusStore, "c@": opCFetch, "c!": opCStore, "emit": opEmit,
	}
})

// fold computes an op on literals. It returns the number of operands, or 0 for ops that it does not
// compute.
func fold(code opcode, a, b int64) (n int64, operands int) {
	switch code {
	case opAdd:
		return a + b, 2
	case opSub:
		return a - b, 2
	case opMul:
		return a * b, 2
	case opNegate:
		return -b, 1
	case opCells:
		return b * cell, 1
	}
	return 0, 0
}
