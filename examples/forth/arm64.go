// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import (
	"encoding/binary"
	"errors"

	"github.com/clewdev/clew/cfi"
)

// arm64 generates code for arm64, with these registers:
//
//	x0   the top of the data stack
//	x19  the address of the item below it; the stack grows down
//	x20  the state
//	x21  the data space
//	sp   the return stack, in units of 16 bytes
//	x30  the return address, on the stack while a word calls others
//
// x29 is the frame pointer, if words have one. An op may use x9 to x11, x16 and x17. x28, which Go uses,
// and all others do not change.
type arm64 struct{}

const (
	x0, x9, x10, x11   = 0, 9, 10, 11
	x16, x17, x19, x20 = 16, 17, 19, 20
	x21, x29, x30      = 21, 29, 30
	sp, xzr            = 31, 31
)

var errBranch = errors.New("a word of more than a mebibyte of code")

func (arm64) entry() frame { return frame{} }

func (arm64) size(d depth) int64 { return int64(d.cells+d.loops) * 2 * cell }

func (m arm64) prologue(e *emitter) {
	m.load(e, x9, offsetStackLimit)
	e.a64(0xeb2963ff) // cmp sp, x9
	m.failIf(e, a64Lower, faultReturnStack)
	switch {
	case e.frames:
		e.a64(0xa9bf7bfd) // stp x29, x30, [sp, #-16]!
		e.frame = frame{cfaOffset: 2 * cell, saved: true}
		e.a64(0x910003fd) // mov x29, sp
	case !e.leaf:
		e.a64(0xf81f0ffe) // str x30, [sp, #-16]!
		e.frame = frame{cfaOffset: 2 * cell, saved: true}
	}
}

func (m arm64) epilogue(e *emitter) {
	if e.frames {
		e.a64(0x910003bf) // mov sp, x29
		e.frame.cfaOffset = e.body
		e.a64(0xa8c17bfd) // ldp x29, x30, [sp], #16
	} else {
		if n := e.frame.cfaOffset - e.body; n > 0 {
			m.moveSP(e, n)
		}
		if e.frame.saved {
			e.a64(0xf84107fe) // ldr x30, [sp], #16
		}
	}
	e.frame = m.entry()
	e.a64(0xd65f03c0) // ret
}

// moveSP removes n bytes from the return stack.
func (arm64) moveSP(e *emitter, n int64) {
	e.a64(0x910003ff | uint32(n)<<10) // add sp, sp, #n
	e.frame.cfaOffset -= n
}

func (m arm64) step(e *emitter) {
	m.load(e, x9, offsetSteps)
	e.a64(0xf1000529) // subs x9, x9, #1
	m.store(e, x9, offsetSteps)
	m.failIf(e, a64Minus, faultSteps)
}

func (m arm64) check(e *emitter) {
	m.load(e, x9, offsetLowest)
	e.a64(a64Cmp(x19, x9))
	m.failIf(e, a64Lower, faultDataStack)
	m.load(e, x9, offsetHighest)
	e.a64(a64Cmp(x19, x9))
	m.failIf(e, a64Higher, faultDataStack)
}

func (m arm64) fail(e *emitter, code faultCode) {
	e.a64(0xd2800000 | uint32(code)<<5 | x9) // mov x9, #code
	m.store(e, x9, offsetFault)
	e.a64(0x10000009) // adr x9, .
	m.store(e, x9, offsetFaultPC)
	m.load(e, x16, offsetSP)
	m.load(e, x17, offsetRA)
	e.a64(0x9100021f) // mov sp, x16
	e.frame = frame{left: true}
	e.a64(0xd61f0220) // br x17
}

func (arm64) patch(e *emitter, at, target int) {
	code := binary.LittleEndian.Uint32(e.text[at:])
	words := (target - at) / 4
	width, shift := 19, 5 // b.cond, cbz
	if code>>26&0x1f == 5 {
		width, shift = 26, 0 // b, bl
	}
	if words < -1<<(width-1) || words >= 1<<(width-1) {
		e.err = errBranch
	}
	code |= uint32(words) & (1<<width - 1) << shift
	binary.LittleEndian.PutUint32(e.text[at:], code)
}

func (m arm64) rules(e *emitter, b *cfi.Builder, from, to frame) {
	if from.cfaOffset != to.cfaOffset {
		b.DefCFAOffset(to.cfaOffset)
	}
	if from.saved == to.saved && from.left == to.left {
		return
	}
	switch {
	case to.left:
		b.Register(x30, x17)
		if e.frames {
			b.Undefined(x29) // it is the frame pointer of any word
		}
	case to.saved && e.frames:
		b.Offset(x29, -2*cell).Offset(x30, -cell)
	case to.saved:
		b.Offset(x30, -2*cell)
	default:
		b.Restore(x30)
		if e.frames {
			b.Restore(x29)
		}
	}
}

// a64 appends instructions.
func (e *emitter) a64(instructions ...uint32) {
	var code [4]byte
	for _, i := range instructions {
		binary.LittleEndian.PutUint32(code[:], i)
		e.instruction(code[:]...)
	}
}

// Condition codes (Arm ARM, C1.2.4). Bit 0 inverts a condition.
const (
	a64Equal       = 0
	a64NotEqual    = 1
	a64HigherSame  = 2
	a64Lower       = 3
	a64Minus       = 4
	a64NoOverflow  = 7
	a64Higher      = 8
	a64GreaterSame = 10
	a64Less        = 11
	a64Greater     = 12
	a64LessSame    = 13
)

func (arm64) failIf(e *emitter, condition uint32, code faultCode) {
	e.failure(code)
	e.a64(0x54000000 | condition) // b.cond
}

// load and store access a field of the state.
func (arm64) load(e *emitter, register uint32, offset byte) {
	e.a64(a64Load(register, x20, uint32(offset)))
}

func (arm64) store(e *emitter, register uint32, offset byte) {
	e.a64(a64Store(register, x20, uint32(offset)))
}

func a64Load(t, n, offset uint32) uint32  { return 0xf9400000 | offset/8<<10 | n<<5 | t } // ldr xt, [xn, #offset]
func a64Store(t, n, offset uint32) uint32 { return 0xf9000000 | offset/8<<10 | n<<5 | t } // str xt, [xn, #offset]
func a64Cmp(n, m uint32) uint32           { return 0xeb00001f | m<<16 | n<<5 }            // cmp xn, xm
func a64Pop(t uint32) uint32              { return 0xf8408400 | x19<<5 | t }              // ldr xt, [x19], #8
func a64Push(t uint32) uint32             { return 0xf81f8c00 | x19<<5 | t }              // str xt, [x19, #-8]!
func a64Move(d, m uint32) uint32          { return 0xaa0003e0 | m<<16 | d }               // mov xd, xm

// a64Three is an instruction of three registers: d = n op m.
func a64Three(code, d, n, m uint32) uint32 { return code | m<<16 | n<<5 | d }
