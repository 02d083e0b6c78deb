// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"fmt"

	"github.com/clewdev/clew/internal/x86"
)

func decodeX86(code []byte, pc uint64) (Instruction, error) {
	i, err := decodeX86Parts(code)
	if err != nil {
		return Instruction{}, err
	}
	return i.instruction(pc)
}

// instruction returns the result of Decode.
func (i *x86Instruction) instruction(pc uint64) (Instruction, error) {
	out := Instruction{Size: len(i.Code), Kind: i.kind(), Next: pc + uint64(len(i.Code))}
	switch out.Kind {
	case Jump, Branch, Call:
		if i.Lock {
			return Instruction{}, fmt.Errorf("%w: a branch with a lock prefix", ErrInvalid)
		}
	}
	if i.Relative != 0 {
		// Intel's processors ignore 66 at near branches. On AMD's the displacement and the target then
		// have 16 bits.
		if i.Operand16 {
			return Instruction{}, fmt.Errorf("%w: a branch with an operand size prefix", ErrUnsupported)
		}
		out.Direct, out.Target = true, i.Target(pc)
	}
	return out, nil
}

func (i *x86Instruction) kind() Kind {
	if i.Vector {
		return Plain
	}
	switch i.Map {
	case x86.MapOneByte:
		return i.kindOneByte()
	case x86.Map0F:
		return i.kindTwoByte()
	}
	return Plain
}

// reg returns the reg field of ModRM, or 0.
func (i *x86Instruction) reg() byte {
	if i.ModRM == 0 {
		return 0
	}
	return i.Code[i.ModRM] >> 3 & 7
}

func (i *x86Instruction) kindOneByte() Kind {
	reg := i.reg()
	switch op := i.Opcode; {
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
	case op == 0xcd && i.Code[len(i.Code)-1] == 0x80: // system call of i386
		return Plain
	case op == 0xcc, op == 0xcd, op == 0xf1, op == 0xf4: // int3, int n, int1, hlt
		return Trap
	case op == 0x9c:
		return PushFlags
	case op == 0x9d:
		return PopFlags
	case op == 0xc7 && i.Relative != 0: // xbegin
		return Branch
	case op == 0x8e && reg == 2:
		return Inhibit
	case i.F2 || i.F3:
		// ins, outs, movs, cmps, stos, lods, scas
		if op >= 0x6c && op <= 0x6f || op >= 0xa4 && op <= 0xa7 || op >= 0xaa && op <= 0xaf {
			return Repeat
		}
	}
	return Plain
}

func (i *x86Instruction) kindTwoByte() Kind {
	reg := i.reg()
	switch op := i.Opcode; {
	case op == 0x00 && reg <= 1: // sldt, str
		return Inhibit
	case op == 0x01 && (reg == 4 || reg <= 1 && i.Code[i.ModRM] < 0xc0): // smsw, sgdt, sidt
		return Inhibit
	case op == 0x05, op == 0x34: // syscall, sysenter
		return Syscall
	case op&0xf0 == 0x80:
		return Branch
	case op == 0x0b, op == 0xb9, op == 0xff: // ud2, ud1, ud0
		return Trap
	case op == 0x01 && i.F3 && i.Code[i.ModRM] == 0xec: // uiret
		return InterruptReturn
	}
	return Plain
}
