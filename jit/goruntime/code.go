// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"encoding/binary"

	"github.com/clewdev/clew/internal/x86"
)

// stackCode follows the stack pointer of amd64 code while the CFA is relative to the frame
// pointer. It accepts the code that compilers write: a prologue that allocates the frame, code
// that keeps the stack pointer, and epilogues that remove the frame. Between these, the stack
// pointer may move if it is back before the next branch or call.
type stackCode struct {
	body     int64 // depth after the prologue; -1 if unknown
	prologue bool  // in the first range, before any branch
	branches []branch
	known    map[uint64]int64 // depth at each instruction
}

// branch is a branch within the function, at a depth.
type branch struct {
	target uint64
	depth  int64
}

// effect is the effect of an instruction on the stack pointer.
type effect struct {
	kind  effectKind
	delta int64
}

type effectKind uint8

const (
	effectNone  effectKind = iota
	effectMove             // the depth grows by delta
	effectFrame            // the depth becomes that of the frame pointer plus delta
	effectLeave            // the depth becomes 0, as the caller's frame pointer is popped
	effectCall
	effectBranch
	effectEnd // a return or an unconditional branch
	effectOther
)

// frameDepth is the depth at which the frame pointer is saved, with CFA rbp+16.
const frameDepth = 8

// rangeDepths adds the depths of the code [start, end), in which the CFA is rbp+16. depth is the
// depth at its start if it is the first range. It returns the depth at its end, or -1 if the code
// does not continue there.
func (x *stackCode) rangeDepths(s *steps, code []byte, start, end uint64, depth int64) (after int64, err error) {
	first := x.body < 0
	if !first { // after an epilogue
		depth = x.body
	}
	if x.known == nil {
		x.known = make(map[uint64]int64)
	}
	x.prologue = first
	var ins x86.Instruction
	for at := start; at < end; {
		s.add(at, int32(depth))
		x.known[at] = depth
		if err := ins.Decode(code[at:]); err != nil {
			return 0, framef("the code at +%#x is unknown", at)
		}
		e := effectOf(&ins)
		switch e.kind {
		case effectMove:
			depth += e.delta
		case effectFrame:
			depth = frameDepth + e.delta
		case effectLeave:
			depth = 0
		case effectCall, effectBranch, effectEnd:
			if x.prologue {
				x.prologue, x.body = false, depth
			}
			if depth != x.body {
				if e.kind == effectEnd && ins.Relative == 0 && depth < x.body {
					return 0, framef("the function ends at +%#x after an epilogue that the unwind table does not describe", at)
				}
				return 0, framef("the stack pointer has moved at the branch or call at +%#x", at)
			}
			if e.kind != effectCall && ins.Relative > 0 {
				x.branches = append(x.branches, branch{ins.Target(at), depth})
			}
		case effectOther:
			return 0, framef("the instruction at +%#x moves the stack pointer", at)
		}
		if depth < 0 || depth > 1<<30 || depth%8 != 0 {
			return 0, framef("the stack pointer is %d bytes below the CFA at +%#x", depth+8, at)
		}
		if after = depth; e.kind == effectEnd {
			after = -1
		}
		at += uint64(len(ins.Code))
	}
	if first && x.body < 0 {
		// Without a branch or call the code cannot be entered elsewhere.
		x.body = depth
	}
	return after, nil
}

// check checks that branches go to code of the same depth.
func (x *stackCode) check() error {
	for _, b := range x.branches {
		if depth, ok := x.known[b.target]; ok && depth != b.depth {
			return framef("the stack pointer differs between +%#x and the branches to it", b.target)
		}
	}
	return nil
}

const rsp = 4

// effectOf returns the effect of an instruction (Intel SDM volume 2).
func effectOf(i *x86.Instruction) effect {
	if i.Vector || i.Map > x86.Map0F {
		return effect{} // vector registers, and general ones that compilers never choose to be rsp
	}
	var m modRM
	if i.ModRM > 0 {
		b := i.Code[i.ModRM]
		m = modRM{b >> 3 & 7, b & 7, b >> 6}
	}
	if i.Map == x86.Map0F {
		return effectOf0F(i, m)
	}
	for _, of := range []func(*x86.Instruction, modRM) effect{controlOf, pushOf} {
		if e := of(i, m); e.kind != effectNone {
			return e
		}
	}
	return arithmeticOf(i, m)
}

// effectOf0F returns the effect of an instruction of two bytes.
func effectOf0F(i *x86.Instruction, m modRM) effect {
	switch o := i.Opcode; {
	case o >= 0x80 && o <= 0x8f:
		return effect{kind: effectBranch}
	case o >= 0x40 && o <= 0x4f && m.register == rsp && !i.RexR: // cmov
		return effect{kind: effectOther}
	}
	return effect{}
}

// arithmeticOf returns the effect of an instruction that is neither a branch nor a push or pop.
func arithmeticOf(i *x86.Instruction, m modRM) effect {
	toRSP := m.mod == 3 && m.rm == rsp && !i.RexB
	toRegister := m.register == rsp && !i.RexR // the operand in ModRM.reg
	switch o := i.Opcode; {
	case (o == 0x81 || o == 0x83) && toRSP && i.Wide && m.register == 5: // sub
		return effect{effectMove, immediate(i)}
	case (o == 0x81 || o == 0x83) && toRSP && i.Wide && m.register == 0: // add
		return effect{effectMove, -immediate(i)}
	case o == 0x89 && toRSP && m.register == 5 && !i.RexR && i.Wide, // mov rsp, rbp
		o == 0x8b && toRegister && m.mod == 3 && m.rm == 5 && !i.RexB && i.Wide:
		return effect{kind: effectFrame}
	case o == 0x8d && toRegister && i.Wide: // lea rsp
		return lea(i, m.mod, m.rm)
	case writesRM(o, m.register) && toRSP, writesRegister(o) && toRegister,
		o == 0x94 && !i.RexB, // xchg rsp, rax
		o == 0xbc && !i.RexB, // mov rsp, immediate
		o == 0xc8:            // enter
		return effect{kind: effectOther}
	}
	return effect{}
}

// modRM is the ModRM byte of an instruction.
type modRM struct{ register, rm, mod byte }

// controlOf returns the effect of a call, a branch or a return.
func controlOf(i *x86.Instruction, m modRM) effect {
	switch o := i.Opcode; {
	case o == 0xff && m.register == 2, o == 0xe8:
		return effect{kind: effectCall}
	case o == 0xff && m.register == 4, o == 0xe9, o == 0xeb, o == 0xc3, o == 0xc2:
		return effect{kind: effectEnd}
	case o >= 0x70 && o <= 0x7f, o >= 0xe0 && o <= 0xe3:
		return effect{kind: effectBranch}
	case o == 0xc9 && !i.Operand16:
		return effect{kind: effectLeave}
	case o == 0xca, o == 0xcb, o == 0xcf: // far returns
		return effect{kind: effectOther}
	}
	return effect{}
}

// pushOf returns the effect of a push or pop.
func pushOf(i *x86.Instruction, m modRM) effect {
	size := int64(8)
	if i.Operand16 {
		size = 2
	}
	switch o := i.Opcode; {
	case o >= 0x50 && o <= 0x57, o == 0x68, o == 0x6a, o == 0x9c, o == 0xff && m.register == 6:
		return effect{effectMove, size}
	case o == 0x5c && !i.RexB, o == 0x8f && m.mod == 3 && m.rm == rsp && !i.RexB: // pop rsp
		return effect{kind: effectOther}
	case o >= 0x58 && o <= 0x5f, o == 0x9d, o == 0x8f:
		return effect{effectMove, -size}
	}
	return effect{}
}

// immediate returns the operand of add or sub.
func immediate(i *x86.Instruction) int64 {
	switch b := i.Code[i.Immediate:]; len(b) {
	case 1:
		return int64(int8(b[0]))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return 1 // not a multiple of 8: refused
}

// lea returns the effect of lea rsp, [rsp+d] and lea rsp, [rbp+d].
func lea(i *x86.Instruction, mod, rm byte) effect {
	var displacement int64
	switch {
	case mod == 1:
		displacement = int64(int8(i.Code[i.Displacement]))
	case mod == 2:
		displacement = int64(int32(binary.LittleEndian.Uint32(i.Code[i.Displacement:])))
	case mod != 0:
		return effect{kind: effectOther}
	}
	switch {
	case mod != 0 && rm == 5 && !i.RexB:
		return effect{effectFrame, -displacement}
	case rm == rsp && i.Code[i.ModRM+1] == 0x24 && !i.RexB && !i.RexX: // no index
		return effect{effectMove, -displacement}
	}
	return effect{kind: effectOther}
}

// writesRM reports whether an instruction of 16 bits or more writes its operand r/m.
func writesRM(o, register byte) bool {
	switch {
	case o < 0x40:
		return o&7 == 1 && o>>3 != 7 // not cmp
	case o == 0x81 || o == 0x83:
		return register != 7
	case o == 0x87, o == 0x89, o == 0x8f, o == 0xc1, o == 0xc7, o == 0xd1, o == 0xd3:
		return true
	case o == 0xf7:
		return register == 2 || register == 3
	case o == 0xff:
		return register < 2
	}
	return false
}

// writesRegister reports whether it writes its operand in ModRM.reg.
func writesRegister(o byte) bool {
	switch {
	case o < 0x40:
		return o&7 == 3 && o>>3 != 7
	case o == 0x63, o == 0x69, o == 0x6b, o == 0x87, o == 0x8b, o == 0x8d:
		return true
	}
	return false
}
