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
	immediate := func() int64 {
		switch b := i.Code[i.Immediate:]; len(b) {
		case 1:
			return int64(int8(b[0]))
		case 4:
			return int64(int32(binary.LittleEndian.Uint32(b)))
		}
		return 1 // not a multiple of 8: refused
	}
	var register, rm, mod byte // of the ModRM byte
	if i.ModRM > 0 {
		b := i.Code[i.ModRM]
		register, rm, mod = b>>3&7, b&7, b>>6
	}
	toRSP := mod == 3 && rm == rsp && !i.RexB // the operand r/m
	if i.Map == x86.Map0F {
		switch o := i.Opcode; {
		case o >= 0x80 && o <= 0x8f:
			return effect{kind: effectBranch}
		case o >= 0x40 && o <= 0x4f && register == rsp && !i.RexR: // cmov
			return effect{kind: effectOther}
		case o == 0x05 || o == 0x0b: // syscall, ud2
			return effect{}
		}
		return effect{}
	}
	push := int64(8)
	if i.Operand16 {
		push = 2
	}
	switch o := i.Opcode; {
	case o >= 0x50 && o <= 0x57, o == 0x68, o == 0x6a, o == 0x9c:
		return effect{effectMove, push}
	case o == 0x5c && !i.RexB: // pop rsp
		return effect{kind: effectOther}
	case o >= 0x58 && o <= 0x5f, o == 0x9d, o == 0x8f && !toRSP:
		return effect{effectMove, -push}
	case o == 0xff && register == 6:
		return effect{effectMove, push}
	case o == 0xff && register == 2, o == 0xe8:
		return effect{kind: effectCall}
	case o == 0xff && register == 4, o == 0xe9, o == 0xeb, o == 0xc3, o == 0xc2:
		return effect{kind: effectEnd}
	case o >= 0x70 && o <= 0x7f, o >= 0xe0 && o <= 0xe3:
		return effect{kind: effectBranch}
	case o == 0xc9 && !i.Operand16:
		return effect{kind: effectLeave}
	case (o == 0x81 || o == 0x83) && toRSP && i.Wide && register == 5: // sub
		return effect{effectMove, immediate()}
	case (o == 0x81 || o == 0x83) && toRSP && i.Wide && register == 0: // add
		return effect{effectMove, -immediate()}
	case (o == 0x81 || o == 0x83) && toRSP && register == 7: // cmp
		return effect{}
	case o == 0x89 && toRSP && register == 5 && !i.RexR && i.Wide, // mov rsp, rbp
		o == 0x8b && register == rsp && !i.RexR && mod == 3 && rm == 5 && !i.RexB && i.Wide:
		return effect{kind: effectFrame}
	case o == 0x8d && register == rsp && !i.RexR && i.Wide: // lea rsp
		return lea(i, mod, rm)
	case o == 0xc8, o == 0xca, o == 0xcb, o == 0xcf, o == 0x94 && i.Map == 0: // enter, far returns, xchg rsp
		return effect{kind: effectOther}
	case writesRM(o, register) && toRSP, writesRegister(o) && register == rsp && !i.RexR:
		return effect{kind: effectOther}
	case o >= 0xb8 && o <= 0xbf && o&7 == rsp && !i.RexB: // mov rsp, imm
		return effect{kind: effectOther}
	}
	return effect{}
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
