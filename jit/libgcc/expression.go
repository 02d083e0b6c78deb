// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

import (
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// Limits of libgcc's execute_stack_op.
const (
	maxStack      = 64
	maxExpression = 1024 // bytes
)

// expression checks the expressions of tables without evaluating them. libgcc aborts if
// the stack underflows or overflows, or if it does not know an operation; LLVM does not
// check.
type expression struct {
	depth [maxExpression + 1]int8 // of the stack, by offset; unknown until the code above or a branch reaches it
}

const unknown = -1

// validate checks an expression of size bytes at an offset of a section. The stack
// has depth values at its start.
func (e *expression) validate(s *cfi.Section, offset, size uint64, depth int) error {
	if size > maxExpression {
		return fmt.Errorf("expression of %d bytes, expected at most %d", size, maxExpression)
	}
	for i := range size + 1 {
		e.depth[i] = unknown
	}
	e.depth[0] = int8(depth)
	limit := int64(columns(s.Machine))
	for o, err := range s.Operations(offset, size) {
		if err != nil {
			return err
		}
		now := int(e.depth[o.Offset])
		next := o.Offset + o.Size
		for i := o.Offset + 1; i < next; i++ {
			if e.depth[i] != unknown {
				return fmt.Errorf("branch to +%#x, into %v", i, o.Op)
			}
		}
		if now == unknown {
			continue // never reached
		}
		needs, change, err := effect(&o, limit)
		if err != nil {
			return err
		}
		if now < needs {
			return fmt.Errorf("%v with %d values on the stack, expected %d", o.Op, now, needs)
		}
		if now += change; now > maxStack {
			return fmt.Errorf("%v: more than %d values on the stack", o.Op, maxStack)
		}
		if o.Op == cfi.OpSkip || o.Op == cfi.OpBra {
			to := int64(next) + o.Operands[0]
			if o.Operands[0] < 0 || to > int64(size) {
				return fmt.Errorf("%v to %+d, expected a later place in the expression", o.Op, o.Operands[0])
			}
			if err := e.reach(uint64(to), now); err != nil {
				return err
			}
		}
		if o.Op != cfi.OpSkip {
			if err := e.reach(next, now); err != nil {
				return err
			}
		}
	}
	if e.depth[size] < 1 {
		return fmt.Errorf("empty stack at the end, expected a value")
	}
	return nil
}

func (e *expression) reach(offset uint64, depth int) error {
	if known := e.depth[offset]; known != unknown && int(known) != depth {
		return fmt.Errorf("%d or %d values on the stack at +%#x", known, depth, offset)
	}
	e.depth[offset] = int8(depth)
	return nil
}

// effect returns the number of values that an operation needs on the stack, and the
// number by which it grows the stack.
func effect(o *cfi.Operation, registers int64) (needs, change int, err error) {
	readable := func(register int64) error {
		if register < 0 || register >= registers {
			return fmt.Errorf("%v of register %d", o.Op, register)
		}
		return nil
	}
	switch op := o.Op; {
	case op >= cfi.OpLit0 && op < cfi.OpReg0:
		return 0, 1, nil
	case op >= cfi.OpReg0 && op < cfi.OpBreg0:
		return 0, 1, readable(int64(op - cfi.OpReg0))
	case op >= cfi.OpBreg0 && op < cfi.OpRegx:
		return 0, 1, readable(int64(op - cfi.OpBreg0))
	}
	switch o.Op {
	case cfi.OpAddr, cfi.OpConst1u, cfi.OpConst1s, cfi.OpConst2u, cfi.OpConst2s, cfi.OpConst4u, cfi.OpConst4s,
		cfi.OpConst8u, cfi.OpConst8s, cfi.OpConstu, cfi.OpConsts:
		return 0, 1, nil
	case cfi.OpRegx, cfi.OpBregx:
		return 0, 1, readable(o.Operands[0])
	case cfi.OpDup:
		return 1, 1, nil
	case cfi.OpOver:
		return 2, 1, nil
	case cfi.OpPick:
		// libgcc's assertion excludes the lowest one.
		return int(o.Operands[0]) + 2, 1, nil
	case cfi.OpDrop, cfi.OpBra:
		return 1, -1, nil
	case cfi.OpSwap:
		return 2, 0, nil
	case cfi.OpRot:
		return 3, 0, nil
	case cfi.OpDerefSize:
		if n := o.Operands[0]; n != 1 && n != 2 && n != 4 && n != 8 {
			return 0, 0, fmt.Errorf("%v of %d bytes", o.Op, n)
		}
		return 1, 0, nil
	case cfi.OpDeref, cfi.OpAbs, cfi.OpNeg, cfi.OpNot, cfi.OpPlusUconst:
		return 1, 0, nil
	case cfi.OpAnd, cfi.OpDiv, cfi.OpMinus, cfi.OpMod, cfi.OpMul, cfi.OpOr, cfi.OpPlus, cfi.OpShl, cfi.OpShr,
		cfi.OpShra, cfi.OpXor, cfi.OpEq, cfi.OpGe, cfi.OpGt, cfi.OpLe, cfi.OpLt, cfi.OpNe:
		return 2, -1, nil
	case cfi.OpSkip, cfi.OpNop:
		return 0, 0, nil
	}
	return 0, 0, fmt.Errorf("unknown operation %v", o.Op)
}
