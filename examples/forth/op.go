// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import "sync"

// opcode is what an op does.
type opcode uint8

// Stack effects are written as Forth has them: what is taken, then what is left,
// the top to the right.
const (
	opLiteral    opcode = iota // ( -- n )
	opCall                     // of the word n
	opReturn                   // of the word, in its middle or at its end
	opLabel                    // n is the label
	opBranch                   // to the label n
	opBranchZero               // ( flag -- ) to the label n where the flag is 0
	opDo                       // ( limit index -- ) and both onto the return stack
	opQuestionDo               // the same; ( limit index -- ) and to the label n where both are equal
	opLoop                     // adds 1 to the index, to the label n unless that reached the limit
	opPlusLoop                 // ( n -- ) adds it, to the label unless that crossed the limit
	opUnloop                   // takes limit and index from the return stack
	opIndex                    // ( -- index ) of the loop below depth on the return stack
	opToR                      // ( x -- ) and onto the return stack
	opFromR                    // ( -- x ) and from it
	opRFetch                   // ( -- x ) a copy
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

// op is a step of a word: what code is generated for.
type op struct {
	code  opcode
	n     int64
	depth depth // opLabel: on the return stack from here on; opReturn: still there; opIndex: above the loop
	at    position
}

// depth is what a word has on the return stack, which is the machine's.
type depth struct {
	cells int // of >r
	loops int // a limit and an index each
}

// primitives are the words that are one op.
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

// fold is an op on literals, where it can be done at once.
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
