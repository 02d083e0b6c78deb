// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"encoding/binary"
	"math"
)

// op generates code for an op. amd64Ops has the code that does not depend on a number, cannot fail, and
// does not move the stack pointer.
func (m amd64) op(e *emitter, o *op) {
	if code := amd64Ops[o.code]; code != nil {
		e.instruction(code...)
		return
	}
	switch o.code {
	case opLiteral:
		e.instruction(amd64Push...)
		m.move(e, o.n)
	case opCall:
		e.call(o.n)
		e.instruction(0xe8, 0, 0, 0, 0) // call
	case opPause:
		e.instruction(0x41, 0xff, 0x94, 0x24, offsetPause, 0, 0, 0) // call [r12+pause]
	case opBranch:
		m.jump(e, o.n)
	case opBranchZero:
		e.instruction(0x48, 0x85, 0xc0) // test rax, rax
		e.instruction(amd64Drop...)
		m.jumpIf(e, amd64Equal, o.n)
	case opDo:
		m.do(e)
	case opQuestionDo:
		e.instruction(0x48, 0x39, 0x03, 0x75, byte(len(amd64Drop2)+5)) // cmp [rbx], rax; jne past the jump
		e.instruction(amd64Drop2...)
		m.jump(e, o.n)
		m.do(e)
	case opLoop:
		e.instruction(0x48, 0x83, 0x04, 0x24, 1) // add qword [rsp], 1
		m.jumpIf(e, amd64NotOverflow, o.n)
	case opPlusLoop:
		e.instruction(0x48, 0x01, 0x04, 0x24) // add [rsp], rax
		e.instruction(amd64Drop...)
		m.jumpIf(e, amd64NotOverflow, o.n)
	case opUnloop:
		m.moveSP(e, 2*cell)
	case opIndex:
		at := uint32(m.size(o.depth))
		e.instruction(amd64Push...)
		e.instruction(binary.LittleEndian.AppendUint32([]byte{0x48, 0x8b, 0x84, 0x24}, at)...)      // mov rax, [rsp+at]
		e.instruction(binary.LittleEndian.AppendUint32([]byte{0x48, 0x03, 0x84, 0x24}, at+cell)...) // add rax, [rsp+at+8]
	case opToR:
		m.push(e, 0x50) // push rax
		e.instruction(amd64Drop...)
	case opFromR:
		e.instruction(amd64Push...)
		e.instruction(0x58) // pop rax
		e.frame.cfaOffset -= cell
	case opRFetch:
		e.instruction(amd64Push...)
		e.instruction(0x48, 0x8b, 0x04, 0x24) // mov rax, [rsp]
	case opDiv, opMod, opDivMod, opUDivMod:
		m.divide(e, o.code)
	case opFetch, opStore, opPlusStore, opCFetch, opCStore:
		m.access(e, o.code)
	case opEmit:
		e.instruction(0x49, 0x8b, 0x4c, 0x24, offsetOutLength)   // mov rcx, [r12+outLength]
		e.instruction(0x49, 0x3b, 0x4c, 0x24, offsetOutCapacity) // cmp rcx, [r12+outCapacity]
		m.failIf(e, amd64AboveEqual, faultOutput)
		e.instruction(0x49, 0x8b, 0x54, 0x24, offsetOut)       // mov rdx, [r12+out]
		e.instruction(0x88, 0x04, 0x0a)                        // mov [rdx+rcx], al
		e.instruction(0x49, 0xff, 0x44, 0x24, offsetOutLength) // inc qword [r12+outLength]
		e.instruction(amd64Drop...)
	}
}

// move sets the top of the data stack.
func (amd64) move(e *emitter, n int64) {
	switch {
	case n >= 0 && n <= math.MaxUint32:
		e.instruction(binary.LittleEndian.AppendUint32([]byte{0xb8}, uint32(n))...) // mov eax, n
	case n >= math.MinInt32 && n < 0:
		e.instruction(binary.LittleEndian.AppendUint32([]byte{0x48, 0xc7, 0xc0}, uint32(n))...) // mov rax, n
	default:
		e.instruction(binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, uint64(n))...) // movabs rax, n
	}
}

func (amd64) jump(e *emitter, label int64) {
	e.branch(label)
	e.instruction(0xe9, 0, 0, 0, 0)
}

func (amd64) jumpIf(e *emitter, condition byte, label int64) {
	e.branch(label)
	e.instruction(0x0f, 0x80|condition, 0, 0, 0, 0)
}

func (amd64) push(e *emitter, code byte) {
	e.instruction(code)
	e.frame.cfaOffset += cell
}

// do stores limit+2^63, and the index minus that. When the index crosses the limit, in either direction,
// the stored index overflows.
func (m amd64) do(e *emitter) {
	e.instruction(0x48, 0x8b, 0x0b)             // mov rcx, [rbx]
	e.instruction(0x48, 0x0f, 0xba, 0xf9, 0x3f) // btc rcx, 63
	e.instruction(0x48, 0x29, 0xc8)             // sub rax, rcx
	m.push(e, 0x51)                             // push rcx
	m.push(e, 0x50)                             // push rax
	e.instruction(amd64Drop2...)
}

func (m amd64) divide(e *emitter, code opcode) {
	e.instruction(0x48, 0x85, 0xc0) // test rax, rax
	m.failIf(e, amd64Equal, faultDivision)
	e.instruction(0x48, 0x89, 0xc1, 0x48, 0x8b, 0x03) // mov rcx, rax; mov rax, [rbx]
	if code == opUDivMod {
		e.instruction(0x31, 0xd2, 0x48, 0xf7, 0xf1) // xor edx, edx; div rcx
	} else {
		// The processor faults at the lowest number / -1. Here the result is the lowest number.
		e.instruction(0x48, 0x83, 0xf9, 0xff, 0x74, 0x07)       // cmp rcx, -1; je to neg
		e.instruction(0x48, 0x99, 0x48, 0xf7, 0xf9, 0xeb, 0x05) // cqo; idiv rcx; jmp past xor
		e.instruction(0x48, 0xf7, 0xd8, 0x31, 0xd2)             // neg rax; xor edx, edx
	}
	switch code {
	case opDiv:
		e.instruction(0x48, 0x83, 0xc3, 0x08) // add rbx, 8
	case opMod:
		e.instruction(0x48, 0x89, 0xd0, 0x48, 0x83, 0xc3, 0x08) // mov rax, rdx; add rbx, 8
	default:
		e.instruction(0x48, 0x89, 0x13) // mov [rbx], rdx
	}
}

func (m amd64) access(e *emitter, code opcode) {
	last := offsetLastCell
	if code == opCFetch || code == opCStore {
		last = offsetLastByte
	}
	e.instruction(0x49, 0x3b, 0x44, 0x24, last) // cmp rax, [r12+last]
	m.failIf(e, amd64Above, faultAddress)
	switch code {
	case opFetch:
		e.instruction(0x49, 0x8b, 0x44, 0x05, 0) // mov rax, [r13+rax]
		return
	case opCFetch:
		e.instruction(0x41, 0x0f, 0xb6, 0x44, 0x05, 0) // movzx eax, byte [r13+rax]
		return
	}
	e.instruction(0x48, 0x8b, 0x0b) // mov rcx, [rbx]
	switch code {
	case opStore:
		e.instruction(0x49, 0x89, 0x4c, 0x05, 0) // mov [r13+rax], rcx
	case opPlusStore:
		e.instruction(0x49, 0x01, 0x4c, 0x05, 0) // add [r13+rax], rcx
	case opCStore:
		e.instruction(0x41, 0x88, 0x4c, 0x05, 0) // mov [r13+rax], cl
	}
	e.instruction(amd64Drop2...)
}
