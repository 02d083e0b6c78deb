// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/clewdev/clew/cfi"
)

// agentFrame has the memory and registers that an agent expression reads.
type agentFrame interface {
	cfi.Memory
	// register returns a register by its number in the target description.
	register(number int) (uint64, error)
}

// Limits of an agent expression, which the client sends and which may jump backwards.
const (
	agentStack = 64      // values; gdb's own stub has 100
	agentSteps = 1 << 14 // instructions executed
)

var errAgent = errors.New("agent expression")

// agentMachine executes an agent expression.
type agentMachine struct {
	instructions []agentInstruction

	frame   agentFrame
	order   binary.ByteOrder
	stack   [agentStack]uint64
	depth   int // values on the stack
	next    int // offset of the next instruction
	operand uint64
	word    [8]byte
}

// agent executes an agent expression (GDB manual, "Agent Expressions") and returns the value on top of
// its stack at the end. Operands are big-endian; order is the byte order of memory.
func agent(code []byte, order binary.ByteOrder, f agentFrame) (uint64, error) {
	m := agentMachine{instructions: agentInstructions(), frame: f, order: order}
	for range agentSteps {
		pc := m.next
		end, err := m.step(code)
		if err != nil {
			return 0, fmt.Errorf("%w: byte %d of %d: %w", errAgent, pc, len(code), err)
		}
		if end {
			return m.stack[m.depth-1], nil
		}
	}
	return 0, fmt.Errorf("%w: more than %d instructions", errAgent, agentSteps)
}

// step executes one instruction, and reports whether it is the last.
func (m *agentMachine) step(code []byte) (end bool, err error) {
	if m.next >= len(code) {
		return false, errors.New("the code has no end instruction")
	}
	op := code[m.next]
	if int(op) >= len(m.instructions) || !m.instructions[op].known {
		return false, fmt.Errorf("instruction %#x is not supported", op)
	}
	i := &m.instructions[op]
	base := m.depth - i.takes
	if base < 0 || base+i.gives > agentStack {
		return false, fmt.Errorf("instruction %#x with %d values on the stack", op, m.depth)
	}
	m.next++
	if m.next+i.operand > len(code) {
		return false, errors.New("incomplete operand")
	}
	m.operand = 0
	for _, b := range code[m.next : m.next+i.operand] {
		m.operand = m.operand<<8 | uint64(b)
	}
	m.next += i.operand
	if op == agentEnd {
		if m.depth == 0 {
			return false, errors.New("no value at the end")
		}
		return true, nil
	}
	if i.execute != nil {
		err = i.execute(m, m.stack[base:base+max(i.takes, i.gives)])
	}
	m.depth = base + i.gives
	return false, err
}

// agentInstruction is an instruction of an agent expression.
type agentInstruction struct {
	operand      int // bytes after the opcode
	takes, gives int // values on the stack
	known        bool
	// execute replaces the values that the instruction takes, at the start of v, with those that it
	// gives. It is nil if the values do not change.
	execute func(m *agentMachine, v []uint64) error
}

const agentEnd = 0x27

// agentInstructions are the instructions of the GDB manual, "Bytecode Descriptions", by opcode, without
// those for floating point, which no stub has, and for tracepoints. The first user makes the table,
// because the linker cannot store closures in data.
var agentInstructions = sync.OnceValue(func() []agentInstruction {
	return []agentInstruction{
		0x02: agentBinary(func(a, b uint64) uint64 { return a + b }), // add
		0x03: agentBinary(func(a, b uint64) uint64 { return a - b }), // sub
		0x04: agentBinary(func(a, b uint64) uint64 { return a * b }), // mul

		0x05: agentDivision(func(a, b uint64) uint64 { return uint64(int64(a) / int64(b)) }), // div_signed
		0x06: agentDivision(func(a, b uint64) uint64 { return a / b }),                       // div_unsigned
		0x07: agentDivision(func(a, b uint64) uint64 { return uint64(int64(a) % int64(b)) }), // rem_signed
		0x08: agentDivision(func(a, b uint64) uint64 { return a % b }),                       // rem_unsigned

		0x09: agentBinary(func(a, b uint64) uint64 { return a << b }),                                  // lsh
		0x0a: agentBinary(func(a, b uint64) uint64 { return uint64(int64(a) >> min(b, 63)) }),          // rsh_signed
		0x0b: agentBinary(func(a, b uint64) uint64 { return a >> b }),                                  // rsh_unsigned
		0x0e: agentUnary(func(a uint64) uint64 { return truth(a == 0) }),                               // log_not
		0x0f: agentBinary(func(a, b uint64) uint64 { return a & b }),                                   // bit_and
		0x10: agentBinary(func(a, b uint64) uint64 { return a | b }),                                   // bit_or
		0x11: agentBinary(func(a, b uint64) uint64 { return a ^ b }),                                   // bit_xor
		0x12: agentUnary(func(a uint64) uint64 { return ^a }),                                          // bit_not
		0x13: agentBinary(func(a, b uint64) uint64 { return truth(a == b) }),                           // equal
		0x14: agentBinary(func(a, b uint64) uint64 { return truth(int64(a) < int64(b)) }),              // less_signed
		0x15: agentBinary(func(a, b uint64) uint64 { return truth(a < b) }),                            // less_unsigned
		0x16: agentExtension(func(a, shift uint64) uint64 { return uint64(int64(a<<shift) >> shift) }), // ext
		0x2a: agentExtension(func(a, shift uint64) uint64 { return a << shift >> shift }),              // zero_ext

		0x17: agentReference(1, func(_ binary.ByteOrder, p []byte) uint64 { return uint64(p[0]) }),        // ref8
		0x18: agentReference(2, func(o binary.ByteOrder, p []byte) uint64 { return uint64(o.Uint16(p)) }), // ref16
		0x19: agentReference(4, func(o binary.ByteOrder, p []byte) uint64 { return uint64(o.Uint32(p)) }), // ref32
		0x1a: agentReference(8, func(o binary.ByteOrder, p []byte) uint64 { return o.Uint64(p) }),         // ref64

		0x20: {2, 1, 0, true, func(m *agentMachine, v []uint64) error { // if_goto
			if v[0] != 0 {
				m.next = int(m.operand)
			}
			return nil
		}},
		0x21: {2, 0, 0, true, func(m *agentMachine, _ []uint64) error { // goto
			m.next = int(m.operand)
			return nil
		}},

		0x22: {1, 0, 1, true, agentConstant}, // const8
		0x23: {2, 0, 1, true, agentConstant}, // const16
		0x24: {4, 0, 1, true, agentConstant}, // const32
		0x25: {8, 0, 1, true, agentConstant}, // const64
		0x26: {2, 0, 1, true, func(m *agentMachine, v []uint64) (err error) { // reg
			v[0], err = m.frame.register(int(m.operand))
			return err
		}},

		agentEnd: {known: true},

		0x28: {0, 1, 2, true, func(_ *agentMachine, v []uint64) error { // dup
			v[1] = v[0]
			return nil
		}},
		0x29: {0, 1, 0, true, nil}, // pop
		0x2b: {0, 2, 2, true, func(_ *agentMachine, v []uint64) error { // swap
			v[0], v[1] = v[1], v[0]
			return nil
		}},
		0x32: {1, 0, 1, true, func(m *agentMachine, v []uint64) error { // pick
			if int(m.operand) >= m.depth {
				return fmt.Errorf("value %d from the top of %d", m.operand, m.depth)
			}
			v[0] = m.stack[m.depth-1-int(m.operand)]
			return nil
		}},
		0x33: {0, 3, 3, true, func(_ *agentMachine, v []uint64) error { // rot: a b c becomes c a b
			v[0], v[1], v[2] = v[2], v[0], v[1]
			return nil
		}},
	}
})

func agentConstant(m *agentMachine, v []uint64) error {
	v[0] = m.operand
	return nil
}

func agentUnary(f func(a uint64) uint64) agentInstruction {
	return agentInstruction{0, 1, 1, true, func(_ *agentMachine, v []uint64) error {
		v[0] = f(v[0])
		return nil
	}}
}

func agentBinary(f func(a, b uint64) uint64) agentInstruction {
	return agentInstruction{0, 2, 1, true, func(_ *agentMachine, v []uint64) error {
		v[0] = f(v[0], v[1])
		return nil
	}}
}

func agentDivision(f func(a, b uint64) uint64) agentInstruction {
	return agentInstruction{0, 2, 1, true, func(_ *agentMachine, v []uint64) error {
		if v[1] == 0 {
			return errors.New("division by 0")
		}
		v[0] = f(v[0], v[1])
		return nil
	}}
}

// agentExtension extends a value. The operand is the number of low bits to keep; f gets the number of
// the other bits.
func agentExtension(f func(a, shift uint64) uint64) agentInstruction {
	return agentInstruction{1, 1, 1, true, func(m *agentMachine, v []uint64) error {
		if m.operand == 0 || m.operand > 64 {
			return fmt.Errorf("a value of %d bits", m.operand)
		}
		v[0] = f(v[0], 64-m.operand)
		return nil
	}}
}

// agentReference replaces an address with the size bytes at the address.
func agentReference(size int, number func(binary.ByteOrder, []byte) uint64) agentInstruction {
	return agentInstruction{0, 1, 1, true, func(m *agentMachine, v []uint64) error {
		if err := m.frame.ReadMemory(m.word[:size], v[0]); err != nil {
			return err
		}
		v[0] = number(m.order, m.word[:size])
		return nil
	}}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
