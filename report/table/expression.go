// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"encoding/hex"
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// infix converts the postfix operations of an expression to a formula. It can be reused.
type infix struct {
	stack []term
	texts []byte // the terms of the stack are slices of it
}

// term is a formula on the stack.
type term struct {
	start, end int
	level      int8
	constant   bool
	value      int64
}

// Levels of precedence. Languages agree only about sums, products and atoms, so other formulas
// always get parentheses.
const (
	levelOther int8 = iota
	levelSum
	levelProduct
	levelAtom
)

// Limits of a readable formula.
const (
	maxTerms      = 16
	maxInfixLen   = 256
	maxInfixBytes = 512 // of the expression
)

// append appends the formula of a rule's expression. It reports false if the expression has
// jumps, is malformed or is too long. cfa is the name of the CFA, with which the evaluation for
// a register starts (DWARF 5 §6.4.2.3), or "" for the expression of the CFA.
func (x *infix) append(dst []byte, s *cfi.Section, r cfi.Rule, cfa string) ([]byte, bool) {
	x.stack, x.texts = x.stack[:0], x.texts[:0]
	if r.Register > maxInfixBytes {
		return dst, false
	}
	if cfa != "" {
		x.texts = append(x.texts, cfa...)
		x.stack = append(x.stack, term{end: len(cfa), level: levelAtom})
	}
	for o, err := range s.Operations(uint64(r.Offset), uint64(r.Register)) {
		if err != nil || !x.operation(s, &o) || len(x.texts) > maxInfixLen*4 || len(x.stack) > maxTerms {
			return dst, false
		}
	}
	if len(x.stack) == 0 {
		return dst, false
	}
	t := x.stack[len(x.stack)-1]
	if t.end-t.start > maxInfixLen {
		return dst, false
	}
	return append(dst, x.texts[t.start:t.end]...), true
}

func (x *infix) number(v int64) {
	start := len(x.texts)
	x.texts = strconv.AppendInt(x.texts, v, 10)
	level := levelAtom
	if v < 0 {
		level = levelSum
	}
	x.stack = append(x.stack, term{start: start, end: len(x.texts), level: level, constant: true, value: v})
}

func (x *infix) address(v uint64) {
	start := len(x.texts)
	x.texts = style.AppendHex(x.texts, v)
	x.stack = append(x.stack, term{start: start, end: len(x.texts), level: levelAtom})
}

// register pushes register+offset.
func (x *infix) register(s *cfi.Section, column uint64, offset int64) {
	start, level := len(x.texts), levelAtom
	x.texts = s.Machine.AppendRegisterName(x.texts, column)
	if offset != 0 {
		x.texts, level = appendOffset(x.texts, offset), levelSum
	}
	x.stack = append(x.stack, term{start: start, end: len(x.texts), level: level})
}

// pop removes n terms and returns them, the deepest first, or nil if there are fewer.
func (x *infix) pop(n int) []term {
	if len(x.stack) < n {
		return nil
	}
	t := x.stack[len(x.stack)-n:]
	x.stack = x.stack[:len(x.stack)-n]
	return t
}

// appendTerm appends a term, in parentheses if its level is lower than required.
func (x *infix) appendTerm(t term, level int8) {
	if t.level < level {
		x.texts = append(x.texts, '(')
		x.texts = append(x.texts, x.texts[t.start:t.end]...)
		x.texts = append(x.texts, ')')
		return
	}
	x.texts = append(x.texts, x.texts[t.start:t.end]...)
}

var infixBinary = [256]struct {
	text                string
	left, right, result int8 // required levels of the operands, level of the result
}{
	cfi.OpPlus: {"+", levelSum, levelProduct, levelSum}, cfi.OpMinus: {"-", levelSum, levelProduct, levelSum},
	cfi.OpMul: {"*", levelProduct, levelAtom, levelProduct},
	cfi.OpDiv: {"/", levelAtom, levelAtom, levelOther}, cfi.OpMod: {"%", levelAtom, levelAtom, levelOther},
	cfi.OpAnd: {"&", levelAtom, levelAtom, levelOther}, cfi.OpOr: {"|", levelAtom, levelAtom, levelOther},
	cfi.OpXor: {"^", levelAtom, levelAtom, levelOther}, cfi.OpShl: {"<<", levelAtom, levelAtom, levelOther},
	cfi.OpShr: {">>", levelAtom, levelAtom, levelOther}, cfi.OpShra: {">>>", levelAtom, levelAtom, levelOther},
	cfi.OpEq: {"==", levelAtom, levelAtom, levelOther}, cfi.OpNe: {"!=", levelAtom, levelAtom, levelOther},
	cfi.OpGe: {">=", levelAtom, levelAtom, levelOther}, cfi.OpGt: {">", levelAtom, levelAtom, levelOther},
	cfi.OpLe: {"<=", levelAtom, levelAtom, levelOther}, cfi.OpLt: {"<", levelAtom, levelAtom, levelOther},
}

// binary replaces two terms by their formula.
func (x *infix) binary(op cfi.Op) bool {
	t := x.pop(2)
	if t == nil {
		return false
	}
	a, b, o := t[0], t[1], infixBinary[op]
	start := len(x.texts)
	x.appendTerm(a, o.left)
	if op == cfi.OpPlus && b.constant && b.value < 0 {
		x.texts = strconv.AppendInt(x.texts, b.value, 10)
	} else {
		x.texts = append(x.texts, o.text...)
		x.appendTerm(b, o.right)
	}
	x.stack = append(x.stack, term{start: start, end: len(x.texts), level: o.result})
	return true
}

// unary replaces a term by prefix+term+suffix.
func (x *infix) unary(prefix, suffix string, level int8) bool {
	t := x.pop(1)
	if t == nil {
		return false
	}
	start := len(x.texts)
	x.texts = append(x.texts, prefix...)
	if suffix == "" {
		x.appendTerm(t[0], levelAtom)
	} else {
		x.texts = append(x.texts, x.texts[t[0].start:t[0].end]...)
	}
	x.texts = append(x.texts, suffix...)
	x.stack = append(x.stack, term{start: start, end: len(x.texts), level: level})
	return true
}

// operation applies one operation to the stack of formulas.
func (x *infix) operation(s *cfi.Section, o *cfi.Operation) bool {
	op, n := o.Op, o.Operands[0]
	switch {
	case op >= cfi.OpLit0 && op < cfi.OpReg0:
		x.number(int64(op - cfi.OpLit0))
		return true
	case op >= cfi.OpReg0 && op < cfi.OpBreg0:
		x.register(s, uint64(op-cfi.OpReg0), 0)
		return true
	case op >= cfi.OpBreg0 && op < cfi.OpRegx:
		x.register(s, uint64(op-cfi.OpBreg0), n)
		return true
	}
	if infixBinary[op].text != "" {
		return x.binary(op)
	}
	switch op {
	case cfi.OpAddr, cfi.OpEncodedAddr:
		x.address(uint64(n))
	case cfi.OpConst1u, cfi.OpConst1s, cfi.OpConst2u, cfi.OpConst2s, cfi.OpConst4u, cfi.OpConst4s,
		cfi.OpConst8u, cfi.OpConst8s, cfi.OpConstu, cfi.OpConsts:
		x.number(n)
	case cfi.OpRegx:
		x.register(s, uint64(n), 0)
	case cfi.OpBregx:
		x.register(s, uint64(n), o.Operands[1])
	case cfi.OpDup, cfi.OpOver, cfi.OpPick:
		depth := map[cfi.Op]int64{cfi.OpDup: 1, cfi.OpOver: 2, cfi.OpPick: n + 1}[op]
		if depth > int64(len(x.stack)) {
			return false
		}
		x.stack = append(x.stack, x.stack[int64(len(x.stack))-depth])
	case cfi.OpDrop:
		return x.pop(1) != nil
	case cfi.OpSwap:
		t := x.pop(2)
		if t == nil {
			return false
		}
		x.stack = append(x.stack, t[1], t[0])
	case cfi.OpRot:
		t := x.pop(3)
		if t == nil {
			return false
		}
		x.stack = append(x.stack, t[2], t[0], t[1])
	case cfi.OpDeref:
		return x.unary("[", "]", levelAtom)
	case cfi.OpDerefSize:
		return x.unary("[", "]:"+strconv.FormatInt(n, 10), levelAtom)
	case cfi.OpAbs:
		return x.unary("abs(", ")", levelAtom)
	case cfi.OpNeg:
		return x.unary("-", "", levelOther)
	case cfi.OpNot:
		return x.unary("~", "", levelOther)
	case cfi.OpPlusUconst:
		x.number(n)
		return x.binary(cfi.OpPlus)
	case cfi.OpNop:
	default:
		return false
	}
	return true
}

// maxOperationsLen limits the text of an expression, which can be as long as its section.
const maxOperationsLen = 4096

// appendOperations appends the DWARF names of an expression's operations:
// "DW_OP_breg6 (rbp) -16; DW_OP_deref". A text beyond the limit ends in "...".
func appendOperations(dst []byte, s *cfi.Section, offset, size uint64) []byte {
	if size == 0 {
		return append(dst, "nothing"...)
	}
	first, most := true, len(dst)+maxOperationsLen
	for o, err := range s.Operations(offset, size) {
		if !first {
			dst = append(dst, "; "...)
		}
		first = false
		if len(dst) > most {
			return append(dst, "..."...)
		}
		if err != nil {
			dst = append(dst, '<')
			dst = append(dst, printable.Text(err.Error())...)
			return append(dst, '>')
		}
		dst = appendOperation(dst, s, &o)
	}
	return dst
}

func appendOperation(dst []byte, s *cfi.Section, o *cfi.Operation) []byte {
	name := o.Op.String()
	dst = append(dst, name...)
	column, named := uint64(0), true
	switch {
	case o.Op >= cfi.OpReg0 && o.Op < cfi.OpBreg0:
		column = uint64(o.Op - cfi.OpReg0)
	case o.Op >= cfi.OpBreg0 && o.Op < cfi.OpRegx:
		column = uint64(o.Op - cfi.OpBreg0)
	case o.Op == cfi.OpRegx || o.Op == cfi.OpBregx:
		dst = append(dst, ' ')
		column = uint64(o.Operands[0])
		dst = strconv.AppendUint(dst, column, 10)
	default:
		named = false
	}
	if named {
		dst = append(dst, " ("...)
		dst = s.Machine.AppendRegisterName(dst, column)
		dst = append(dst, ')')
	}
	for i := range o.Op.Operands() {
		if o.Op == cfi.OpBregx && i == 0 || o.Op == cfi.OpRegx {
			continue
		}
		dst = append(dst, ' ')
		switch o.Op {
		case cfi.OpAddr, cfi.OpEncodedAddr:
			dst = style.AppendHex(dst, uint64(o.Operands[i]))
		case cfi.OpBra, cfi.OpSkip:
			// The target, in bytes from the start of the expression.
			dst = append(dst, "to "...)
			dst = strconv.AppendInt(dst, int64(o.Offset)+3+o.Operands[i], 10)
		default:
			dst = strconv.AppendInt(dst, o.Operands[i], 10)
		}
	}
	if len(o.Block) > 0 {
		dst = append(dst, ' ')
	}
	dst = hex.AppendEncode(dst, o.Block[:min(len(o.Block), maxOperationsLen)])
	if len(o.Block) > maxOperationsLen {
		dst = append(dst, "..."...)
	}
	return dst
}
