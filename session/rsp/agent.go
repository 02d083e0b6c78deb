// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/clewdev/clew/cfi"
)

// agentFrame is what an agent expression can look at.
type agentFrame interface {
	cfi.Memory
	// register returns a register by its number in the target description.
	register(number int) (uint64, error)
}

// Bounds of an agent expression: it comes from outside, and may jump backwards.
const (
	agentStack = 64      // values; gdb's own stub has 100
	agentSteps = 1 << 14 // instructions executed
)

var errAgent = errors.New("agent expression")

// agent executes an agent expression (GDB manual, "Agent Expressions") and
// returns the value on the top of its stack at the end. All operands are
// big-endian; the byte order of memory is the machine's own.
func agent(code []byte, order binary.ByteOrder, f agentFrame) (uint64, error) {
	var stack [agentStack]uint64
	var word [8]byte
	depth, pc := 0, 0
	fail := func(what string) (uint64, error) {
		return 0, fmt.Errorf("%w: byte %d of %d: %s", errAgent, pc, len(code), what)
	}
	for range agentSteps {
		if pc >= len(code) {
			return fail("the code ends without an end")
		}
		op := agentOp(code[pc])
		if int(op) >= len(agentOps) || !agentOps[op].known {
			return fail(fmt.Sprintf("instruction %#x is not supported", byte(op)))
		}
		shape := agentOps[op]
		if depth < shape.takes || depth-shape.takes+shape.gives > agentStack {
			return fail(fmt.Sprintf("instruction %#x with %d values on the stack", byte(op), depth))
		}
		next := pc + 1 + shape.operand
		if next > len(code) {
			return fail("an operand is cut off")
		}
		var operand uint64
		for _, b := range code[pc+1 : next] {
			operand = operand<<8 | uint64(b)
		}
		// The values that it takes; what it gives replaces them.
		var a, b uint64
		switch shape.takes {
		case 1:
			a = stack[depth-1]
		case 2:
			a, b = stack[depth-2], stack[depth-1]
		}
		var result uint64
		switch op {
		case agentAdd:
			result = a + b
		case agentSub:
			result = a - b
		case agentMul:
			result = a * b
		case agentDivSigned, agentDivUnsigned, agentRemSigned, agentRemUnsigned:
			if b == 0 {
				return fail("division by 0")
			}
			switch op {
			case agentDivSigned:
				result = uint64(int64(a) / int64(b))
			case agentDivUnsigned:
				result = a / b
			case agentRemSigned:
				result = uint64(int64(a) % int64(b))
			default:
				result = a % b
			}
		case agentLsh:
			result = a << b
		case agentRshSigned:
			result = uint64(int64(a) >> min(b, 63))
		case agentRshUnsigned:
			result = a >> b
		case agentLogNot:
			result = truth(a == 0)
		case agentBitAnd:
			result = a & b
		case agentBitOr:
			result = a | b
		case agentBitXor:
			result = a ^ b
		case agentBitNot:
			result = ^a
		case agentEqual:
			result = truth(a == b)
		case agentLessSigned:
			result = truth(int64(a) < int64(b))
		case agentLessUnsigned:
			result = truth(a < b)
		case agentExt, agentZeroExt:
			if operand == 0 || operand > 64 {
				return fail(fmt.Sprintf("a value of %d bits", operand))
			}
			if shift := 64 - operand; op == agentExt {
				result = uint64(int64(a<<shift) >> shift)
			} else {
				result = a << shift >> shift
			}
		case agentRef8, agentRef16, agentRef32, agentRef64:
			size := 1 << (op - agentRef8)
			if err := f.ReadMemory(word[:size], a); err != nil {
				return 0, fmt.Errorf("%w: byte %d of %d: %w", errAgent, pc, len(code), err)
			}
			switch op {
			case agentRef8:
				result = uint64(word[0])
			case agentRef16:
				result = uint64(order.Uint16(word[:]))
			case agentRef32:
				result = uint64(order.Uint32(word[:]))
			default:
				result = order.Uint64(word[:])
			}
		case agentIfGoto:
			if a != 0 {
				next = int(operand)
			}
		case agentGoto:
			next = int(operand)
		case agentConst8, agentConst16, agentConst32, agentConst64:
			result = operand
		case agentReg:
			value, err := f.register(int(operand))
			if err != nil {
				return 0, fmt.Errorf("%w: byte %d of %d: %w", errAgent, pc, len(code), err)
			}
			result = value
		case agentEnd:
			if depth == 0 {
				return fail("the end without a value")
			}
			return stack[depth-1], nil
		case agentDup:
			result = a // the one below stays
		case agentSwap:
			stack[depth-2], stack[depth-1] = b, a
			pc = next
			continue
		case agentPick:
			if int(operand) >= depth {
				return fail(fmt.Sprintf("value %d from the top of %d", operand, depth))
			}
			result = stack[depth-1-int(operand)]
		case agentRot: // a b c becomes c a b
			s := stack[depth-3 : depth]
			s[0], s[1], s[2] = s[2], s[0], s[1]
			pc = next
			continue
		}
		depth += shape.gives - shape.takes
		if shape.gives > 0 {
			stack[depth-1] = result
		}
		pc = next
	}
	return 0, fmt.Errorf("%w: more than %d instructions", errAgent, agentSteps)
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
