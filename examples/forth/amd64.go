// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"encoding/binary"

	"github.com/clewdev/clew/cfi"
)

// amd64 generates code for amd64, with these registers:
//
//	rax  the top of the data stack
//	rbx  the address of the item below it; the stack grows down
//	r12  the state
//	r13  the data space
//	rsp  the return stack
//
// rbp is the frame pointer, if words have one. An op may use rcx and rdx. r14, which Go uses, and all
// others do not change.
type amd64 struct{}

const amd64RBP = 6 // DWARF column (psABI amd64, Table 3.36)

func (amd64) entry() frame { return frame{cfaOffset: cell} } // the call pushed the return address

func (amd64) size(d depth) int64 { return int64(d.cells)*cell + int64(d.loops)*2*cell }

func (m amd64) prologue(e *emitter) {
	e.instruction(0x49, 0x3b, 0x64, 0x24, offsetStackLimit) // cmp rsp, [r12+stackLimit]
	m.failIf(e, amd64Below, faultReturnStack)
	if e.frames {
		e.instruction(0x55) // push rbp
		e.frame = frame{cfaOffset: 2 * cell, saved: true}
		e.instruction(0x48, 0x89, 0xe5) // mov rbp, rsp
	}
}

func (m amd64) epilogue(e *emitter) {
	if e.frames {
		e.instruction(0xc9) // leave
	} else if n := e.frame.cfaOffset - cell; n > 0 {
		m.moveSP(e, n)
	}
	e.frame = m.entry()
	e.instruction(0xc3) // ret
}

// moveSP removes n bytes from the return stack.
func (amd64) moveSP(e *emitter, n int64) {
	e.instruction(binary.LittleEndian.AppendUint32([]byte{0x48, 0x81, 0xc4}, uint32(n))...) // add rsp, n
	e.frame.cfaOffset -= n
}

func (m amd64) step(e *emitter) {
	e.instruction(0x49, 0x83, 0x6c, 0x24, offsetSteps, 1) // sub qword [r12+steps], 1
	m.failIf(e, amd64Sign, faultSteps)
}

func (m amd64) check(e *emitter) {
	e.instruction(0x49, 0x3b, 0x5c, 0x24, offsetLowest) // cmp rbx, [r12+lowest]
	m.failIf(e, amd64Below, faultDataStack)
	e.instruction(0x49, 0x3b, 0x5c, 0x24, offsetHighest) // cmp rbx, [r12+highest]
	m.failIf(e, amd64Above, faultDataStack)
}

// Condition codes (Intel SDM volume 1, Appendix B.1).
const (
	amd64NotOverflow  = 0x1
	amd64Below        = 0x2
	amd64AboveEqual   = 0x3
	amd64Equal        = 0x4
	amd64NotEqual     = 0x5
	amd64Above        = 0x7
	amd64Sign         = 0x8
	amd64Less         = 0xc
	amd64GreaterEqual = 0xd
	amd64LessEqual    = 0xe
	amd64Greater      = 0xf
)

func (amd64) failIf(e *emitter, condition byte, code faultCode) {
	e.failure(code)
	e.instruction(0x0f, 0x80|condition, 0, 0, 0, 0) // jcc
}

func (amd64) fail(e *emitter, code faultCode) {
	e.instruction(0x49, 0xc7, 0x44, 0x24, offsetFault, byte(code), 0, 0, 0) // mov qword [r12+fault], code
	e.instruction(0x48, 0x8d, 0x0d, 0, 0, 0, 0)                             // lea rcx, [rip]
	e.instruction(0x49, 0x89, 0x4c, 0x24, offsetFaultPC)                    // mov [r12+faultPC], rcx
	e.instruction(0x49, 0x8b, 0x64, 0x24, offsetSP)                         // mov rsp, [r12+sp]
	e.frame = frame{cfaOffset: cell, left: true}
	e.instruction(0xc3) // ret
}

func (amd64) patch(e *emitter, at, target int) {
	end := at + 5 // call, jmp
	if e.text[at] == 0x0f {
		end = at + 6 // jcc
	}
	binary.LittleEndian.PutUint32(e.text[end-4:], uint32(target-end))
}

func (amd64) rules(e *emitter, b *cfi.Builder, from, to frame) {
	if from.cfaOffset != to.cfaOffset {
		b.DefCFAOffset(to.cfaOffset)
	}
	if !e.frames || from.saved == to.saved && from.left == to.left {
		return
	}
	switch {
	case to.left:
		b.Undefined(amd64RBP) // it is the frame pointer of any word
	case to.saved:
		b.Offset(amd64RBP, -2*cell)
	default:
		b.Restore(amd64RBP)
	}
}

// Parts of ops. amd64Drop does not change the flags.
var (
	amd64Push  = []byte{0x48, 0x83, 0xeb, 0x08, 0x48, 0x89, 0x03}       // sub rbx, 8; mov [rbx], rax
	amd64Drop  = []byte{0x48, 0x8b, 0x03, 0x48, 0x8d, 0x5b, 0x08}       // mov rax, [rbx]; lea rbx, [rbx+8]
	amd64Drop2 = []byte{0x48, 0x8b, 0x43, 0x08, 0x48, 0x83, 0xc3, 0x10} // mov rax, [rbx+8]; add rbx, 16
)

// amd64Ops has the code of ops that is always the same.
var amd64Ops = [lastOp + 1][]byte{
	opDup:   amd64Push,
	opQDup:  {0x48, 0x85, 0xc0, 0x74, 0x07, 0x48, 0x83, 0xeb, 0x08, 0x48, 0x89, 0x03}, // test rax, rax; jz +7; amd64Push
	opDrop:  amd64Drop,
	op2Drop: amd64Drop2,
	opSwap:  {0x48, 0x8b, 0x0b, 0x48, 0x89, 0x03, 0x48, 0x89, 0xc8},                               // mov rcx, [rbx]; mov [rbx], rax; mov rax, rcx
	opOver:  {0x48, 0x83, 0xeb, 0x08, 0x48, 0x89, 0x03, 0x48, 0x8b, 0x43, 0x08},                   // amd64Push; mov rax, [rbx+8]
	opNip:   {0x48, 0x83, 0xc3, 0x08},                                                             // add rbx, 8
	opTuck:  {0x48, 0x8b, 0x0b, 0x48, 0x89, 0x03, 0x48, 0x83, 0xeb, 0x08, 0x48, 0x89, 0x0b},       // mov rcx, [rbx]; mov [rbx], rax; sub rbx, 8; mov [rbx], rcx
	op2Dup:  {0x48, 0x8b, 0x0b, 0x48, 0x83, 0xeb, 0x10, 0x48, 0x89, 0x43, 0x08, 0x48, 0x89, 0x0b}, // mov rcx, [rbx]; sub rbx, 16; mov [rbx+8], rax; mov [rbx], rcx
	// mov rcx, [rbx]; mov rdx, [rbx+8]; mov [rbx+8], rcx; mov [rbx], rax; mov rax, rdx
	opRot: {0x48, 0x8b, 0x0b, 0x48, 0x8b, 0x53, 0x08, 0x48, 0x89, 0x4b, 0x08, 0x48, 0x89, 0x03, 0x48, 0x89, 0xd0},
	// mov rcx, [rbx]; mov rdx, [rbx+8]; mov [rbx+8], rax; mov [rbx], rdx; mov rax, rcx
	opNRot: {0x48, 0x8b, 0x0b, 0x48, 0x8b, 0x53, 0x08, 0x48, 0x89, 0x43, 0x08, 0x48, 0x89, 0x13, 0x48, 0x89, 0xc8},

	opAdd:    {0x48, 0x03, 0x03, 0x48, 0x83, 0xc3, 0x08},                                     // add rax, [rbx]; add rbx, 8
	opSub:    {0x48, 0x89, 0xc1, 0x48, 0x8b, 0x03, 0x48, 0x29, 0xc8, 0x48, 0x83, 0xc3, 0x08}, // mov rcx, rax; mov rax, [rbx]; sub rax, rcx; add rbx, 8
	opMul:    {0x48, 0x0f, 0xaf, 0x03, 0x48, 0x83, 0xc3, 0x08},                               // imul rax, [rbx]; add rbx, 8
	opAnd:    {0x48, 0x23, 0x03, 0x48, 0x83, 0xc3, 0x08},                                     // and rax, [rbx]; add rbx, 8
	opOr:     {0x48, 0x0b, 0x03, 0x48, 0x83, 0xc3, 0x08},                                     // or rax, [rbx]; add rbx, 8
	opXor:    {0x48, 0x33, 0x03, 0x48, 0x83, 0xc3, 0x08},                                     // xor rax, [rbx]; add rbx, 8
	opLShift: {0x48, 0x89, 0xc1, 0x48, 0x8b, 0x03, 0x48, 0x83, 0xc3, 0x08, 0x48, 0xd3, 0xe0}, // mov rcx, rax; mov rax, [rbx]; add rbx, 8; shl rax, cl
	opRShift: {0x48, 0x89, 0xc1, 0x48, 0x8b, 0x03, 0x48, 0x83, 0xc3, 0x08, 0x48, 0xd3, 0xe8}, // the same; shr rax, cl
	opMin:    {0x48, 0x39, 0x03, 0x48, 0x0f, 0x4c, 0x03, 0x48, 0x83, 0xc3, 0x08},             // cmp [rbx], rax; cmovl rax, [rbx]; add rbx, 8
	opMax:    {0x48, 0x39, 0x03, 0x48, 0x0f, 0x4f, 0x03, 0x48, 0x83, 0xc3, 0x08},             // the same with cmovg
	opInvert: {0x48, 0xf7, 0xd0},                                                             // not rax
	opNegate: {0x48, 0xf7, 0xd8},                                                             // neg rax
	opAbs:    {0x48, 0x89, 0xc1, 0x48, 0xc1, 0xf9, 0x3f, 0x48, 0x31, 0xc8, 0x48, 0x29, 0xc8}, // mov rcx, rax; sar rcx, 63; xor rax, rcx; sub rax, rcx
	opInc:    {0x48, 0xff, 0xc0},                                                             // inc rax
	opDec:    {0x48, 0xff, 0xc8},                                                             // dec rax
	opDouble: {0x48, 0x01, 0xc0},                                                             // add rax, rax
	opHalve:  {0x48, 0xd1, 0xf8},                                                             // sar rax, 1
	opCells:  {0x48, 0xc1, 0xe0, 0x03},                                                       // shl rax, 3

	opEqual:        amd64Compare(amd64Equal),
	opNotEqual:     amd64Compare(amd64NotEqual),
	opLess:         amd64Compare(amd64Less),
	opGreaterEqual: amd64Compare(amd64GreaterEqual),
	opLessEqual:    amd64Compare(amd64LessEqual),
	opGreater:      amd64Compare(amd64Greater),
	opULess:        amd64Compare(amd64Below),
	opUGreater:     amd64Compare(amd64Above),
	opZeroEqual:    amd64CompareZero(amd64Equal),
	opZeroNotEqual: amd64CompareZero(amd64NotEqual),
	opZeroGreater:  amd64CompareZero(amd64Greater),
	opZeroLess:     {0x48, 0xc1, 0xf8, 0x3f}, // sar rax, 63
}

// amd64Compare returns code for ( a b -- flag ).
func amd64Compare(condition byte) []byte {
	return []byte{
		0x31, 0xc9, // xor ecx, ecx
		0x48, 0x39, 0x03, // cmp [rbx], rax
		0x0f, 0x90 | condition, 0xc1, // setcc cl
		0x48, 0xf7, 0xd9, // neg rcx
		0x48, 0x89, 0xc8, // mov rax, rcx
		0x48, 0x83, 0xc3, 0x08, // add rbx, 8
	}
}

// amd64CompareZero returns code for ( a -- flag ).
func amd64CompareZero(condition byte) []byte {
	return []byte{
		0x31, 0xc9, // xor ecx, ecx
		0x48, 0x85, 0xc0, // test rax, rax
		0x0f, 0x90 | condition, 0xc1, // setcc cl
		0x48, 0xf7, 0xd9, // neg rcx
		0x48, 0x89, 0xc8, // mov rax, rcx
	}
}
