// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import "fmt"

func decodeX86(code []byte, pc uint64) (Instruction, error) {
	i, err := decodeX86Parts(code)
	if err != nil {
		return Instruction{}, err
	}
	return i.instruction(pc)
}

// instruction is what Decode returns.
func (i *x86Instruction) instruction(pc uint64) (Instruction, error) {
	out := Instruction{Size: len(i.code), Kind: i.kind(), Next: pc + uint64(len(i.code))}
	switch out.Kind {
	case Jump, Branch, Call:
		if i.lock { // an invalid opcode, whatever the rest is
			return Instruction{}, fmt.Errorf("%w: a branch with a lock prefix", ErrInvalid)
		}
	}
	if i.relative != 0 {
		// Intel's processors ignore 66 at near branches, AMD's take a
		// displacement of 16 bits and cut the target down to as many.
		if i.operand16 {
			return Instruction{}, fmt.Errorf("%w: a branch with an operand size prefix", ErrUnsupported)
		}
		out.Direct, out.Target = true, i.branchTarget(pc)
	}
	return out, nil
}

func (i *x86Instruction) kind() Kind {
	if i.vector {
		return Plain
	}
	switch i.opcodeMap {
	case mapOneByte:
		return i.kindOneByte()
	case map0F:
		return i.kindTwoByte()
	}
	return Plain
}

func (i *x86Instruction) kindOneByte() Kind {
	reg := byte(0)
	if i.modRM != 0 {
		reg = i.code[i.modRM] >> 3 & 7
	}
	switch op := i.opcode; {
	case op&0xf0 == 0x70, op >= 0xe0 && op <= 0xe3: // jcc, loop, jrcxz
		return Branch
	case op == 0xe8:
		return Call
	case op == 0xe9, op == 0xeb:
		return Jump
	case op == 0xff && (reg == 2 || reg == 3):
		return Call
	case op == 0xff && (reg == 4 || reg == 5):
		return Jump
	case op == 0xc2, op == 0xc3, op == 0xca, op == 0xcb:
		return Return
	case op == 0xcf:
		return InterruptReturn
	case op == 0xcd && i.code[len(i.code)-1] == 0x80: // system call of i386
		return Plain
	case op == 0xcc, op == 0xcd, op == 0xf1, op == 0xf4: // int3, int n, int1, hlt
		return Trap
	case op == 0x9c:
		return PushFlags
	case op == 0x9d:
		return PopFlags
	case op == 0xc7 && i.relative != 0: // xbegin
		return Branch
	case op == 0x8e && reg == 2:
		return Inhibit
	case i.f2 || i.f3:
		// ins, outs, movs, cmps, stos, lods, scas
		if op >= 0x6c && op <= 0x6f || op >= 0xa4 && op <= 0xa7 || op >= 0xaa && op <= 0xaf {
			return Repeat
		}
	}
	return Plain
}

func (i *x86Instruction) kindTwoByte() Kind {
	reg := byte(0)
	if i.modRM != 0 {
		reg = i.code[i.modRM] >> 3 & 7
	}
	switch op := i.opcode; {
	case op == 0x00 && reg <= 1: // sldt, str
		return Inhibit
	case op == 0x01 && (reg == 4 || reg <= 1 && i.code[i.modRM] < 0xc0): // smsw, sgdt, sidt
		return Inhibit
	case op == 0x05, op == 0x34: // syscall, sysenter
		return Syscall
	case op&0xf0 == 0x80:
		return Branch
	case op == 0x0b, op == 0xb9, op == 0xff: // ud2, ud1, ud0
		return Trap
	case op == 0x01 && i.f3 && i.code[i.modRM] == 0xec: // uiret
		return InterruptReturn
	}
	return Plain
}
