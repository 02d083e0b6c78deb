// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/value/internal/number"
)

// arithmetic applies an operation of DWARF 5 §2.5.1.3 to §2.5.1.5.
func (e *evaluator) arithmetic(op cfi.Op, n int64) error {
	switch op {
	case cfi.OpDup, cfi.OpOver, cfi.OpPick:
		depth := 0
		switch op {
		case cfi.OpOver:
			depth = 1
		case cfi.OpPick:
			depth = int(n)
		}
		return e.push(e.at(depth))
	case cfi.OpDrop:
		e.pop()
		return e.err
	case cfi.OpSwap, cfi.OpRot:
		below := 1
		if op == cfi.OpRot {
			below = 2
		}
		if e.at(below); e.err != nil {
			return e.err
		}
		s := e.stack[len(e.stack)-1-below:]
		top := s[below]
		copy(s[1:], s[:below])
		s[0] = top
		return nil
	case cfi.OpDeref, cfi.OpDerefSize:
		size := uint64(e.info.machine.AddressSize)
		if op == cfi.OpDerefSize {
			if n > int64(size) {
				return refuse("%v of %d bytes", op, n)
			}
			size = uint64(n)
		}
		v := e.pop()
		if e.err != nil {
			return e.err
		}
		b, err := e.memory(v.lo, size)
		if err != nil {
			return err
		}
		e.isAddress = true
		return e.push(e.fromBytes(b, nil))
	case cfi.OpAbs, cfi.OpNeg, cfi.OpNot, cfi.OpPlusUconst:
		return e.push(e.unary(op, e.pop(), n))
	case cfi.OpAnd, cfi.OpDiv, cfi.OpMinus, cfi.OpMod, cfi.OpMul, cfi.OpOr, cfi.OpPlus, cfi.OpShl, cfi.OpShr, cfi.OpShra,
		cfi.OpXor, cfi.OpEq, cfi.OpGe, cfi.OpGt, cfi.OpLe, cfi.OpLt, cfi.OpNe:
		b, a := e.pop(), e.pop()
		return e.push(e.binary(op, a, b))
	}
	return refuse("%v has no meaning here", op)
}

func (e *evaluator) isFloat(v element) bool { return v.typ != nil && v.typ.kind == Float }

// narrow returns an integer cut to the width of its type, with hi unused.
func (e *evaluator) narrow(n uint64, t *Type) element {
	if t != nil && t.size > 8 {
		return e.fail(refuse("arithmetic on %d bytes", t.size))
	}
	if t != nil && t.size < 8 {
		n &= 1<<(8*t.size) - 1
	}
	return element{lo: n, typ: t}
}

func (e *evaluator) unary(op cfi.Op, v element, operand int64) element {
	if e.isFloat(v) && v.typ.size <= 8 {
		f := floatOf(v)
		switch {
		case op == cfi.OpNeg, op == cfi.OpAbs && f < 0:
			return fromFloat64(-f, v.typ)
		case op == cfi.OpAbs:
			return v
		}
		return e.fail(refuse("%v of a floating-point number", op))
	}
	n := e.signed(v)
	switch op {
	case cfi.OpAbs:
		if n < 0 {
			n = -n
		}
	case cfi.OpNeg:
		n = -n
	case cfi.OpNot:
		n = ^n
	case cfi.OpPlusUconst:
		n += operand
	}
	return e.narrow(uint64(n), v.typ)
}

// signed returns an integer as a signed one: the generic type is signed where
// that matters (DWARF 5 §2.5.1.4).
func (e *evaluator) signed(v element) int64 {
	if v.typ == nil {
		return int64(number.SignExtend(v.lo, 8*uint64(e.info.machine.AddressSize)))
	}
	return int64(e.extended(v))
}

func (e *evaluator) binary(op cfi.Op, a, b element) element {
	if e.isFloat(a) || e.isFloat(b) {
		return e.floatBinary(op, a, b)
	}
	t := a.typ
	sa, sb := e.signed(a), e.signed(b)
	ua, ub := e.extended(a), e.extended(b)
	isSigned := t == nil || t.signed
	if (op == cfi.OpDiv || op == cfi.OpMod) && ub == 0 {
		return e.fail(refuse("%v by zero", op))
	}
	var v uint64
	switch op {
	case cfi.OpAnd:
		v = ua & ub
	case cfi.OpOr:
		v = ua | ub
	case cfi.OpXor:
		v = ua ^ ub
	case cfi.OpPlus:
		v = ua + ub
	case cfi.OpMinus:
		v = ua - ub
	case cfi.OpMul:
		v = ua * ub
	case cfi.OpDiv:
		if v = ua / ub; isSigned {
			v = uint64(sa / sb)
		}
	case cfi.OpMod:
		// The generic type is unsigned here.
		if v = ua % ub; t != nil && t.signed {
			v = uint64(sa % sb)
		}
	case cfi.OpShl:
		v = ua << ub
	case cfi.OpShr:
		if t != nil && t.size < 8 {
			ua &= 1<<(8*t.size) - 1
		}
		v = ua >> ub
	case cfi.OpShra:
		v = uint64(sa >> ub)
	default:
		if isSigned {
			return compared(op, sa, sb)
		}
		return compared(op, ua, ub)
	}
	return e.narrow(v, t)
}

func (e *evaluator) floatBinary(op cfi.Op, a, b element) element {
	if !e.isFloat(a) || !e.isFloat(b) || a.typ.size != b.typ.size {
		return e.fail(refuse("%v of unlike types", op))
	}
	if a.typ.size > 8 {
		return e.longBinary(op, a, b)
	}
	x, y := floatOf(a), floatOf(b)
	switch op {
	case cfi.OpPlus:
		x += y
	case cfi.OpMinus:
		x -= y
	case cfi.OpMul:
		x *= y
	case cfi.OpDiv:
		x /= y
	case cfi.OpEq, cfi.OpNe, cfi.OpLt, cfi.OpLe, cfi.OpGt, cfi.OpGe:
		return compared(op, x, y)
	default:
		return e.fail(refuse("%v of floating-point numbers", op))
	}
	return fromFloat64(x, a.typ)
}

// longBinary is floatBinary for numbers that a float64 cannot hold.
func (e *evaluator) longBinary(op cfi.Op, a, b element) element {
	m, t := e.info.machine, a.typ
	x, y := t.decodeFloat(number.Low(m, e.toBytes(a), int(t.size))), t.decodeFloat(number.Low(m, e.toBytes(b), int(t.size)))
	operator := map[cfi.Op]byte{cfi.OpPlus: '+', cfi.OpMinus: '-', cfi.OpMul: '*'}[op]
	isFinite := x.Finite() && y.Finite()
	if bytes := make([]byte, t.size); isFinite && operator != 0 && number.EncodeBig(m, t.format, bytes, x.Calculate(operator, y)) {
		return e.fromBytes(bytes, t)
	} else if isFinite && op >= cfi.OpEq && op <= cfi.OpNe {
		return compared(op, int64(x.Value.Cmp(y.Value)), 0)
	}
	return e.fail(refuse("%v of floating-point numbers of %d bytes", op, t.size))
}

// compared returns the result of a comparison, which is of the generic type.
func compared[T int64 | uint64 | float64](op cfi.Op, a, b T) element {
	var holds bool
	switch op {
	case cfi.OpEq:
		holds = a == b
	case cfi.OpNe:
		holds = a != b
	case cfi.OpLt:
		holds = a < b
	case cfi.OpLe:
		holds = a <= b
	case cfi.OpGt:
		holds = a > b
	case cfi.OpGe:
		holds = a >= b
	}
	if holds {
		return element{lo: 1}
	}
	return element{}
}
