// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check

import (
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check/internal/lift"
)

const maxExpression = 64 // operations

// expression returns the value of a DWARF expression in a state. The first value on the
// stack is start, unless it is 0. It returns false if the expression has an operation that
// the analysis does not know.
func (c *checker) expression(rule cfi.Rule, s *state, pc uint64, start value) (value, bool) {
	var stack [16]value
	n := 0
	if start != 0 {
		stack[0], n = start, 1
	}
	count := 0
	for o, err := range c.section.Operations(uint64(rule.Offset), uint64(rule.Register)) {
		if count++; err != nil || count > maxExpression || n+1 >= len(stack) {
			return 0, false
		}
		switch {
		case o.Op >= cfi.OpLit0 && o.Op < cfi.OpLit0+32:
			stack[n] = makeValue(constant, 0, int64(o.Op-cfi.OpLit0))
			n++
			continue
		case o.Op >= cfi.OpBreg0 && o.Op < cfi.OpBreg0+32:
			stack[n] = c.column(s, uint64(o.Op-cfi.OpBreg0), pc).add(o.Operands[0])
			n++
			continue
		}
		switch o.Op {
		case cfi.OpBregx:
			stack[n] = c.column(s, uint64(o.Operands[0]), pc).add(o.Operands[1])
			n++
		case cfi.OpConst1u, cfi.OpConst1s, cfi.OpConst2u, cfi.OpConst2s, cfi.OpConst4u, cfi.OpConst4s, cfi.OpConst8u, cfi.OpConst8s, cfi.OpConstu, cfi.OpConsts:
			stack[n] = makeValue(constant, 0, o.Operands[0])
			n++
		case cfi.OpPlusUconst:
			if n < 1 {
				return 0, false
			}
			stack[n-1] = stack[n-1].add(o.Operands[0])
		case cfi.OpDeref:
			if n < 1 {
				return 0, false
			}
			stack[n-1] = s.load(stack[n-1], c.abi)
		case cfi.OpDup:
			if n < 1 {
				return 0, false
			}
			stack[n] = stack[n-1]
			n++
		case cfi.OpNop:
		default:
			if n < 2 {
				return 0, false
			}
			v, ok := binaryOperation(o.Op, stack[n-2], stack[n-1])
			if !ok {
				return 0, false
			}
			n--
			stack[n-1] = v
		}
	}
	if n == 0 {
		return 0, false
	}
	return stack[n-1], true
}

// column returns the value of a column in a state. The column of the return address is that
// of the program counter in expressions of a PLT.
func (c *checker) column(s *state, column, pc uint64) value {
	switch {
	case column == uint64(c.abi.ReturnAddress) && c.abi.Link == lift.NoRegister:
		return makeValue(constant, 0, int64(pc))
	}
	if number := c.abi.Number(column); number != lift.NoRegister {
		return s.registers[number]
	}
	return value(unknown)
}

// binaryOperation executes an operation with two operands.
func binaryOperation(op cfi.Op, a, b value) (value, bool) {
	if b.kind() == constant {
		switch op {
		case cfi.OpPlus:
			return a.add(b.offset()), true
		case cfi.OpMinus:
			return a.add(-b.offset()), true
		}
	}
	if a.kind() == constant && op == cfi.OpPlus {
		return b.add(a.offset()), true
	}
	if a.kind() != constant || b.kind() != constant {
		return 0, false
	}
	x, y := a.offset(), b.offset()
	truth := func(t bool) int64 {
		if t {
			return 1
		}
		return 0
	}
	var v int64
	switch op {
	case cfi.OpAnd:
		v = x & y
	case cfi.OpOr:
		v = x | y
	case cfi.OpXor:
		v = x ^ y
	case cfi.OpMul:
		v = x * y
	case cfi.OpShl:
		v = x << (uint64(y) & 63)
	case cfi.OpShr:
		v = int64(uint64(x) >> (uint64(y) & 63))
	case cfi.OpGe:
		v = truth(x >= y)
	case cfi.OpGt:
		v = truth(x > y)
	case cfi.OpLe:
		v = truth(x <= y)
	case cfi.OpLt:
		v = truth(x < y)
	case cfi.OpEq:
		v = truth(x == y)
	case cfi.OpNe:
		v = truth(x != y)
	default:
		return 0, false
	}
	return makeValue(constant, 0, v), true
}
