// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table

import (
	"strconv"

	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
)

// infix turns the postfix operations of an expression into a formula. It is
// reused for one expression after the other.
type infix struct {
	stack []term
	texts []byte // what the terms of the stack are slices of
}

// term is a formula on the stack. A compound one is put between parentheses
// before it becomes part of another.
type term struct {
	start, end int
	level      int8
	constant   bool
	value      int64
}

// How tightly a formula holds together: languages disagree about all but sums,
// products and atoms, so the others always get parentheses.
const (
	levelOther int8 = iota
	levelSum
	levelProduct
	levelAtom
)

// Bounds on a formula: beyond them nobody reads it.
const (
	maxTerms      = 16
	maxInfixLen   = 256
	maxInfixBytes = 512 // of the expression
)

// append appends the formula of a rule's expression, and reports false where
// the expression has jumps, is malformed or too long. cfa is what to call the
// CFA that the evaluation for a register starts with (DWARF 5 §6.4.2.3), and
// "" for the expression of the CFA itself.
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

// pop takes n terms, the deepest first.
func (x *infix) pop(n int) []term {
	if len(x.stack) < n {
		return nil
	}
	t := x.stack[len(x.stack)-n:]
	x.stack = x.stack[:len(x.stack)-n]
	return t
}

func (x *infix) within(t term, level int8) {
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
	left, right, result int8 // what the operands have to be, and what the whole is
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
	x.within(a, o.left)
	if op == cfi.OpPlus && b.constant && b.value < 0 {
		x.texts = strconv.AppendInt(x.texts, b.value, 10)
	} else {
		x.texts = append(x.texts, o.text...)
		x.within(b, o.right)
	}
	x.stack = append(x.stack, term{start: start, end: len(x.texts), level: o.result})
	return true
}

// around replaces a term by before+term+after.
func (x *infix) around(before, after string, level int8) bool {
	t := x.pop(1)
	if t == nil {
		return false
	}
	start := len(x.texts)
	x.texts = append(x.texts, before...)
	if after == "" {
		x.within(t[0], levelAtom)
	} else {
		x.texts = append(x.texts, x.texts[t[0].start:t[0].end]...)
	}
	x.texts = append(x.texts, after...)
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
		back := map[cfi.Op]int64{cfi.OpDup: 1, cfi.OpOver: 2, cfi.OpPick: n + 1}[op]
		if back > int64(len(x.stack)) {
			return false
		}
		x.stack = append(x.stack, x.stack[int64(len(x.stack))-back])
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
		return x.around("[", "]", levelAtom)
	case cfi.OpDerefSize:
		return x.around("[", "]:"+strconv.FormatInt(n, 10), levelAtom)
	case cfi.OpAbs:
		return x.around("abs(", ")", levelAtom)
	case cfi.OpNeg:
		return x.around("-", "", levelOther)
	case cfi.OpNot:
		return x.around("~", "", levelOther)
	case cfi.OpPlusUconst:
		x.number(n)
		return x.binary(cfi.OpPlus)
	case cfi.OpNop:
	default:
		return false
	}
	return true
}

// maxOperationsLen bounds the text of an expression, which can be as long as
// its section.
const maxOperationsLen = 4096

// appendOperations appends the operations of a rule's expression as DWARF
// names them: "DW_OP_breg6 (rbp) -16; DW_OP_deref".
// What is longer than anybody reads ends in "...".
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
			// Where it leads: bytes from the start of the expression.
			dst = append(dst, "to "...)
			dst = strconv.AppendInt(dst, int64(o.Offset)+3+o.Operands[i], 10)
		default:
			dst = strconv.AppendInt(dst, o.Operands[i], 10)
		}
	}
	for i, b := range o.Block {
		if i == maxOperationsLen {
			return append(dst, "..."...)
		}
		if i == 0 {
			dst = append(dst, ' ')
		}
		const digits = "0123456789abcdef"
		dst = append(dst, digits[b>>4], digits[b&15])
	}
	return dst
}
