// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi

import "fmt"

// Frame is the input of expressions: the registers of a frame, and memory at run-time
// addresses.
type Frame interface {
	Memory
	// Register returns the value of a column in the frame, and false if it is unknown.
	Register(column uint64) (uint64, bool)
}

// Limits of an evaluation.
const (
	maxDepth = 64    // as in libgcc
	maxSteps = 10000 // the longest expressions of compilers take about twenty
)

// Evaluator evaluates the expressions of rules. The zero value is ready to use. Reuse it: it
// allocates only for errors. It must not be used concurrently.
type Evaluator struct {
	// Steps counts the operations of all evaluations, for callers that limit their total.
	Steps uint64

	c     cursor
	op    Operation
	frame Frame
	stack [maxDepth]uint64
	depth int
	word  [8]byte
}

// CFA evaluates the expression of a CFA rule of the section.
func (e *Evaluator) CFA(s *Section, r Rule, frame Frame) (uint64, error) {
	e.depth = 0
	return e.evaluate(s, r, frame)
}

// Register evaluates the expression of the rule of a register. The result is its value for kind
// ValExpression, and the address where it is saved for kind Expression. The evaluation starts
// with the frame's CFA on the stack (DWARF 5 §6.4.2.3).
func (e *Evaluator) Register(s *Section, r Rule, cfa uint64, frame Frame) (uint64, error) {
	e.stack[0], e.depth = cfa, 1
	return e.evaluate(s, r, frame)
}

func (e *Evaluator) evaluate(s *Section, r Rule, frame Frame) (uint64, error) {
	start := uint64(r.Offset)
	e.c, e.frame = s.expression(start, uint64(r.Register)), frame
	e.stack[0] = e.truncate(e.stack[0])
	for steps := 0; e.c.Off < e.c.End; steps++ {
		at := e.c.Off
		if e.c.operation(&e.op); e.c.Err != nil {
			break
		}
		if steps == maxSteps {
			e.refuse(at, "more than %d steps", maxSteps)
			break
		}
		e.Steps++
		e.execute(at, start)
	}
	e.frame = nil
	if e.c.Err == nil && e.depth == 0 {
		e.refuse(e.c.End, "an empty stack at the end, expected a value")
	}
	if e.c.Err != nil {
		return 0, e.c.Err
	}
	return e.stack[e.depth-1], nil
}

// refuse ends the evaluation with an error at an offset of the section.
func (e *Evaluator) refuse(at uint64, format string, args ...any) {
	e.c.Off = at
	e.c.fail(ErrExpression, format, args...)
}

// top returns the topmost n elements, the last pushed one at the end.
func (e *Evaluator) top(at uint64, n int) []uint64 {
	if e.depth < n {
		e.refuse(at, "%v with %d on the stack, expected %d", e.op.Op, e.depth, n)
		return nil
	}
	return e.stack[e.depth-n : e.depth]
}

func (e *Evaluator) push(at, v uint64) {
	if e.depth == maxDepth {
		e.refuse(at, "the stack is deeper than %d", maxDepth)
		return
	}
	e.stack[e.depth] = e.truncate(v)
	e.depth++
}

// truncate and signed convert a value to DWARF's generic type, with the width of an address.
func (e *Evaluator) truncate(v uint64) uint64 {
	if e.c.width < 8 {
		v &= 1<<(8*e.c.width) - 1
	}
	return v
}

func (e *Evaluator) signed(v uint64) int64 {
	shift := 64 - 8*e.c.width
	return int64(v<<shift) >> shift
}

func (e *Evaluator) register(at, column uint64) uint64 {
	v, ok := e.frame.Register(column)
	if !ok && e.c.Err == nil {
		e.refuse(at, "%v needs register %s, which is unknown", e.op.Op, e.c.s.Machine.RegisterName(column))
	}
	return v
}

// execute applies the operation decoded at an offset of the section to the
// stack. start is the offset of the expression.
func (e *Evaluator) execute(at, start uint64) {
	op, n := e.op.Op, e.op.Operands[0]
	switch {
	case op >= OpLit0 && op < OpReg0:
		e.push(at, uint64(op-OpLit0))
		return
	case op >= OpReg0 && op < OpBreg0:
		e.push(at, e.register(at, uint64(op-OpReg0)))
		return
	case op >= OpBreg0 && op < OpRegx:
		e.push(at, e.register(at, uint64(op-OpBreg0))+uint64(n))
		return
	}
	switch op {
	case OpAddr, OpEncodedAddr, OpConst1u, OpConst1s, OpConst2u, OpConst2s, OpConst4u, OpConst4s,
		OpConst8u, OpConst8s, OpConstu, OpConsts:
		e.push(at, uint64(n))
	case OpRegx:
		e.push(at, e.register(at, uint64(n)))
	case OpBregx:
		e.push(at, e.register(at, uint64(n))+uint64(e.op.Operands[1]))
	case OpDup, OpOver, OpPick:
		depth := 1
		switch op {
		case OpOver:
			depth = 2
		case OpPick:
			depth = int(n) + 1
		}
		if t := e.top(at, depth); t != nil {
			e.push(at, t[0])
		}
	case OpDrop:
		if e.top(at, 1) != nil {
			e.depth--
		}
	case OpSwap:
		if t := e.top(at, 2); t != nil {
			t[0], t[1] = t[1], t[0]
		}
	case OpRot:
		if t := e.top(at, 3); t != nil {
			t[0], t[1], t[2] = t[2], t[0], t[1]
		}
	case OpDeref, OpDerefSize:
		size := e.c.width
		if op == OpDerefSize {
			size = int(n)
		}
		if t := e.top(at, 1); t != nil {
			t[0] = e.read(at, t[0], size)
		}
	case OpAbs, OpNeg, OpNot, OpPlusUconst:
		if t := e.top(at, 1); t != nil {
			t[0] = e.truncate(e.unary(op, t[0], n))
		}
	case OpAnd, OpDiv, OpMinus, OpMod, OpMul, OpOr, OpPlus, OpShl, OpShr, OpShra, OpXor,
		OpEq, OpGe, OpGt, OpLe, OpLt, OpNe:
		if t := e.top(at, 2); t != nil {
			if (op == OpDiv || op == OpMod) && t[1] == 0 {
				e.refuse(at, "%v by zero", op)
				return
			}
			t[0] = e.truncate(e.binary(op, t[0], t[1]))
			e.depth--
		}
	case OpSkip:
		e.jump(at, start, n)
	case OpBra:
		if t := e.top(at, 1); t != nil {
			e.depth--
			if t[0] != 0 {
				e.jump(at, start, n)
			}
		}
	case OpNop:
	default:
		// DWARF 5 §6.4.2 forbids it in call frame information, or it needs an address space,
		// which Memory lacks.
		e.refuse(at, "%v has no meaning in call frame information", op)
	}
}

func (e *Evaluator) jump(at, start uint64, delta int64) {
	to := e.c.Off + uint64(delta)
	if to < start || to > e.c.End {
		e.refuse(at, "%v to %#x, outside of the expression at [%#x, %#x)", e.op.Op, to, start, e.c.End)
		return
	}
	e.c.Off = to
}

func (e *Evaluator) read(at, address uint64, size int) uint64 {
	if size != 1 && size != 2 && size != 4 && size != 8 || size > e.c.width {
		e.refuse(at, "%v of %d bytes", e.op.Op, size)
		return 0
	}
	b := e.word[:size]
	if err := e.frame.ReadMemory(b, address); err != nil {
		e.c.Off = e.c.End
		e.c.Err = &Error{e.c.s.Name, at, fmt.Errorf("%w: %v: %w", ErrExpression, e.op.Op, err)}
		return 0
	}
	return e.c.s.Machine.Uint(b)
}

func (e *Evaluator) unary(op Op, v uint64, operand int64) uint64 {
	switch op {
	case OpAbs:
		if e.signed(v) < 0 {
			return -v
		}
		return v
	case OpNeg:
		return -v
	case OpNot:
		return ^v
	default: // OpPlusUconst
		return v + uint64(operand)
	}
}

func (e *Evaluator) binary(op Op, a, b uint64) uint64 {
	sa, sb := e.signed(a), e.signed(b)
	switch op {
	case OpAnd:
		return a & b
	case OpOr:
		return a | b
	case OpXor:
		return a ^ b
	case OpPlus:
		return a + b
	case OpMinus:
		return a - b
	case OpMul:
		return a * b
	case OpDiv:
		return uint64(sa / sb)
	case OpMod:
		return a % b
	case OpShl:
		return a << b
	case OpShr:
		return a >> b
	case OpShra:
		return uint64(sa >> b)
	}
	if op == OpEq && a == b || op == OpNe && a != b || op == OpGe && sa >= sb ||
		op == OpGt && sa > sb || op == OpLe && sa <= sb || op == OpLt && sa < sb {
		return 1
	}
	return 0
}
