// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

// Instructions of three registers.
const (
	a64Add  = 0x8b000000
	a64Adds = 0xab000000
	a64Sub  = 0xcb000000
	a64And  = 0x8a000000
	a64Or   = 0xaa000000
	a64Xor  = 0xca000000
	a64Mul  = 0x9b007c00
	a64SDiv = 0x9ac00c00
	a64UDiv = 0x9ac00800
	a64LSL  = 0x9ac02000
	a64LSR  = 0x9ac02400
)

const (
	a64AddX19    = 0x91002273 // add x19, x19, #8
	a64Zero      = 0xf100001f // cmp x0, #0
	a64CmpPopped = 0xeb00013f // cmp x9, x0
)

// a64Ops has the code of ops that is always the same.
var a64Ops = [lastOp + 1][]uint32{
	opDup:   {a64Push(x0)},
	opQDup:  {0xb4000040, a64Push(x0)}, // cbz x0, past the push
	opDrop:  {a64Pop(x0)},
	op2Drop: a64Drop2,
	opSwap:  {a64Load(x9, x19, 0), a64Store(x0, x19, 0), a64Move(x0, x9)},
	opOver:  {a64Push(x0), a64Load(x0, x19, 8)},
	opNip:   {a64AddX19},
	opTuck:  {a64Load(x9, x19, 0), a64Store(x0, x19, 0), a64Push(x9)},
	op2Dup:  {a64Load(x9, x19, 0), a64Push(x0), a64Push(x9)},
	opRot:   {a64Load(x9, x19, 0), a64Load(x10, x19, 8), a64Store(x9, x19, 8), a64Store(x0, x19, 0), a64Move(x0, x10)},
	opNRot:  {a64Load(x9, x19, 0), a64Load(x10, x19, 8), a64Store(x0, x19, 8), a64Store(x10, x19, 0), a64Move(x0, x9)},

	opAdd:    a64Binary(a64Add),
	opSub:    a64Binary(a64Sub),
	opMul:    a64Binary(a64Mul),
	opAnd:    a64Binary(a64And),
	opOr:     a64Binary(a64Or),
	opXor:    a64Binary(a64Xor),
	opLShift: a64Binary(a64LSL),
	opRShift: a64Binary(a64LSR),
	opMin:    {a64Pop(x9), a64CmpPopped, 0x9a80b120}, // csel x0, x9, x0, lt
	opMax:    {a64Pop(x9), a64CmpPopped, 0x9a80c120}, // csel x0, x9, x0, gt
	opInvert: {0xaa2003e0},                           // mvn x0, x0
	opNegate: {0xcb0003e0},                           // neg x0, x0
	opAbs:    {a64Zero, 0xda805400},                  // csneg x0, x0, x0, pl
	opInc:    {0x91000400},                           // add x0, x0, #1
	opDec:    {0xd1000400},                           // sub x0, x0, #1
	opDouble: {a64Three(a64Add, x0, x0, x0)},
	opHalve:  {0x9341fc00}, // asr x0, x0, #1
	opCells:  {0xd37df000}, // lsl x0, x0, #3

	opEqual:        {a64Pop(x9), a64CmpPopped, a64Flag(a64Equal)},
	opNotEqual:     {a64Pop(x9), a64CmpPopped, a64Flag(a64NotEqual)},
	opLess:         {a64Pop(x9), a64CmpPopped, a64Flag(a64Less)},
	opGreater:      {a64Pop(x9), a64CmpPopped, a64Flag(a64Greater)},
	opLessEqual:    {a64Pop(x9), a64CmpPopped, a64Flag(a64LessSame)},
	opGreaterEqual: {a64Pop(x9), a64CmpPopped, a64Flag(a64GreaterSame)},
	opULess:        {a64Pop(x9), a64CmpPopped, a64Flag(a64Lower)},
	opUGreater:     {a64Pop(x9), a64CmpPopped, a64Flag(a64Higher)},
	opZeroEqual:    {a64Zero, a64Flag(a64Equal)},
	opZeroNotEqual: {a64Zero, a64Flag(a64NotEqual)},
	opZeroGreater:  {a64Zero, a64Flag(a64Greater)},
	opZeroLess:     {0x937ffc00}, // asr x0, x0, #63
}

var a64Drop2 = []uint32{a64Load(x0, x19, 8), 0x91004273} // add x19, x19, #16

// a64Binary returns code for ( a b -- c ).
func a64Binary(code uint32) []uint32 { return []uint32{a64Pop(x9), a64Three(code, x0, x9, x0)} }

// a64Flag sets the top to -1 if the condition is true, otherwise to 0.
func a64Flag(condition uint32) uint32 { return 0xda9f03e0 | (condition^1)<<12 } // csetm x0, condition

// op generates code for an op. a64Ops has the code that does not depend on a number, cannot fail, and
// does not move the stack pointer.
func (m arm64) op(e *emitter, o *op) {
	if code := a64Ops[o.code]; code != nil {
		e.a64(code...)
		return
	}
	switch o.code {
	case opLiteral:
		e.a64(a64Push(x0))
		m.move(e, uint64(o.n))
	case opCall:
		e.call(o.n)
		e.a64(0x94000000) // bl
	case opPause:
		m.load(e, x16, offsetPause)
		e.a64(0xd63f0200) // blr x16
	case opBranch:
		m.jump(e, o.n)
	case opBranchZero:
		e.a64(a64Move(x9, x0), a64Pop(x0))
		e.branch(o.n)
		e.a64(0xb4000000 | x9) // cbz x9
	case opDo:
		m.do(e)
	case opQuestionDo:
		e.a64(a64Load(x9, x19, 0), a64CmpPopped, 0x54000081) // b.ne past the jump
		e.a64(a64Drop2...)
		m.jump(e, o.n)
		m.do(e)
	case opLoop:
		e.a64(a64Load(x9, sp, 0), 0xb1000529, a64Store(x9, sp, 0)) // adds x9, x9, #1
		m.jumpIf(e, a64NoOverflow, o.n)
	case opPlusLoop:
		e.a64(a64Load(x9, sp, 0), a64Three(a64Adds, x9, x9, x0), a64Store(x9, sp, 0), a64Pop(x0))
		m.jumpIf(e, a64NoOverflow, o.n)
	case opUnloop:
		m.moveSP(e, 2*cell)
	case opIndex:
		at := uint32(m.size(o.depth))
		e.a64(a64Push(x0), a64Load(x9, sp, at), a64Load(x10, sp, at+cell), a64Three(a64Add, x0, x9, x10))
	case opToR:
		m.push(e, 0xf81f0fe0) // str x0, [sp, #-16]!
		e.a64(a64Pop(x0))
	case opFromR:
		e.a64(a64Push(x0), 0xf84107e0) // ldr x0, [sp], #16
		e.frame.cfaOffset -= 2 * cell
	case opRFetch:
		e.a64(a64Push(x0), a64Load(x0, sp, 0))
	case opDiv, opMod, opDivMod, opUDivMod:
		m.divide(e, o.code)
	case opFetch, opStore, opPlusStore, opCFetch, opCStore:
		m.access(e, o.code)
	case opEmit:
		m.load(e, x9, offsetOutLength)
		m.load(e, x10, offsetOutCapacity)
		e.a64(a64Cmp(x9, x10))
		m.failIf(e, a64HigherSame, faultOutput)
		m.load(e, x10, offsetOut)
		e.a64(0x38296940, 0x91000529) // strb w0, [x10, x9]; add x9, x9, #1
		m.store(e, x9, offsetOutLength)
		e.a64(a64Pop(x0))
	}
}

// move sets the top of the data stack, by 16 bits in each instruction.
func (arm64) move(e *emitter, n uint64) {
	code, bits := uint32(0xd2800000), n // movz x0, #imm, lsl #shift
	invert := uint64(0)
	if n>>48 == 0xffff { // movn sets all bits that the others do not set
		code, bits, invert = 0x92800000, ^n, 0xffff
	}
	first := true
	for shift := uint32(0); shift < 64; shift += 16 {
		part := uint32(bits >> shift & 0xffff)
		if part == 0 {
			continue
		}
		if !first { // movk
			code, part = 0xf2800000, part^uint32(invert)
		}
		e.a64(code | shift/16<<21 | part<<5)
		first = false
	}
	if first {
		e.a64(code)
	}
}

func (arm64) jump(e *emitter, label int64) {
	e.branch(label)
	e.a64(0x14000000) // b
}

func (arm64) jumpIf(e *emitter, condition uint32, label int64) {
	e.branch(label)
	e.a64(0x54000000 | condition) // b.cond
}

func (arm64) push(e *emitter, code uint32) {
	e.a64(code)
	e.frame.cfaOffset += 2 * cell
}

// do stores limit+2^63, and the index minus that. When the index crosses the limit, in either direction,
// the stored index overflows.
func (m arm64) do(e *emitter) {
	e.a64(
		a64Load(x9, x19, 0),
		0xd2410129, // eor x9, x9, #1<<63
		a64Three(a64Sub, x0, x0, x9),
	)
	m.push(e, 0xa9bf27e0) // stp x0, x9, [sp, #-16]!
	e.a64(a64Drop2...)
}

func (m arm64) divide(e *emitter, code opcode) {
	e.failure(faultDivision)
	e.a64(0xb4000000 | x0) // cbz x0
	e.a64(a64Load(x9, x19, 0))
	divide := uint32(a64SDiv)
	if code == opUDivMod {
		divide = a64UDiv
	}
	e.a64(a64Three(divide, x10, x9, x0))
	switch code {
	case opDiv:
		e.a64(a64AddX19, a64Move(x0, x10))
	case opMod:
		e.a64(a64AddX19, 0x9b00a540) // msub x0, x10, x0, x9
	default:
		e.a64(0x9b00a54b, a64Store(x11, x19, 0), a64Move(x0, x10)) // msub x11, x10, x0, x9
	}
}

func (m arm64) access(e *emitter, code opcode) {
	last := offsetLastCell
	if code == opCFetch || code == opCStore {
		last = offsetLastByte
	}
	m.load(e, x9, last)
	e.a64(a64Cmp(x0, x9))
	m.failIf(e, a64Higher, faultAddress)
	switch code {
	case opFetch:
		e.a64(0xf8606aa0) // ldr x0, [x21, x0]
		return
	case opCFetch:
		e.a64(0x38606aa0) // ldrb w0, [x21, x0]
		return
	}
	e.a64(a64Load(x9, x19, 0))
	switch code {
	case opStore:
		e.a64(0xf8206aa9) // str x9, [x21, x0]
	case opPlusStore:
		e.a64(0xf8606aaa, a64Three(a64Add, x10, x10, x9), 0xf8206aaa) // ldr x10, [x21, x0]; add; str
	case opCStore:
		e.a64(0x38206aa9) // strb w9, [x21, x0]
	}
	e.a64(a64Drop2...)
}
