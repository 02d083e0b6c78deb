// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

import (
	"encoding/binary"
	"fmt"
)

// arm64Form is the use that an instruction makes of its own address.
type arm64Form uint8

const (
	arm64Plain          arm64Form = iota // nothing
	arm64Address                         // adr, adrp
	arm64Literal                         // ldr, ldrsw, prfm of a label
	arm64Branch                          // b
	arm64Link                            // bl
	arm64Conditional                     // b.cond, cbz, cbnz: 19 bits at bit 5
	arm64Test                            // tbz, tbnz: 14 bits at bit 5
	arm64Register                        // br and its authenticated forms
	arm64LinkRegister                    // blr likewise
	arm64Return                          // ret likewise
	arm64System                          // svc
	arm64Trap                            // brk, hlt, udf and privileged instructions
	arm64LoadExclusive                   // ldxr, ldxp, ldaxr, ldaxp
	arm64StoreExclusive                  // stxr, stxp, stlxr, stlxp
	arm64Prefix                          // movprfx: the processor may combine it with the next instruction
	arm64Fixed                           // cannot be displaced
)

// arm64Encodings are the encodings of Arm ARM C4.1, by group. The first that matches counts.
var arm64Encodings = []struct {
	mask, value uint32
	form        arm64Form
}{
	{0xffff0000, 0x00000000, arm64Trap}, // udf

	{0x1f000000, 0x10000000, arm64Address},
	{0x3b000000, 0x18000000, arm64Literal},

	{0xfc000000, 0x14000000, arm64Branch},
	{0xfc000000, 0x94000000, arm64Link},
	{0xff000000, 0x54000000, arm64Conditional}, // b.cond, bc.cond
	{0x7e000000, 0x34000000, arm64Conditional}, // cbz, cbnz
	{0x7e000000, 0x36000000, arm64Test},
	{0xffe0001f, 0xd4000001, arm64System},
	{0xff000000, 0xd4000000, arm64Trap},
	{0xffffffff, 0xd50324ff, arm64Fixed}, // pacm makes the next instruction sign the pc
	{0xff000000, 0xd5000000, arm64Plain}, // hints, barriers, system registers
	{0xfeff0000, 0xd61f0000, arm64Register},
	{0xfeff0000, 0xd63f0000, arm64LinkRegister},
	{0xffff0000, 0xd65f0000, arm64Return},
	{0xff9f0000, 0xd69f0000, arm64Trap},  // eret, drps
	{0x1c000000, 0x14000000, arm64Fixed}, // other branches: cb<cc>, retaasppc label

	// FEAT_PAuth_LR: the instruction signs its own address, or signs with it.
	{0xffff801f, 0xdac1801e, arm64Fixed}, // paciasppc and the like
	{0xffc0001f, 0xf380001f, arm64Fixed}, // autiasppc, autibsppc

	{0xbfa00000, 0x08200000, arm64Plain}, // casp, encoded as ldxp with a small size
	{0x3fc00000, 0x08400000, arm64LoadExclusive},
	{0x3fc00000, 0x08000000, arm64StoreExclusive},
	{0x3fa00000, 0x09000000, arm64Fixed}, // FEAT_LSUI: ldtxr, sttxr

	{0xfffffc00, 0x0420bc00, arm64Prefix},
	{0xff3ee000, 0x04102000, arm64Prefix},

	// The main part and the end of a memory copy or set (FEAT_MOPS): after a move to a processor of
	// another kind, the kernel restarts it one or two instructions before.
	{0xfbe00c00, 0x19400400, arm64Fixed},
	{0xfbe00c00, 0x19800400, arm64Fixed},
	{0xfbe0cc00, 0x19c04400, arm64Fixed},
	{0xfbe0cc00, 0x19c08400, arm64Fixed},
}

// arm64FormOf returns the form of an instruction.
func arm64FormOf(op uint32) arm64Form {
	for i := range arm64Encodings {
		if e := &arm64Encodings[i]; op&e.mask == e.value {
			return e.form
		}
	}
	return arm64Plain
}

// signed returns bits of op from low on, sign-extended.
func signed(op uint32, low, bits int) int64 {
	return int64(op) << (64 - low - bits) >> (64 - bits)
}

// arm64Target returns the address of the label of an instruction at pc.
func arm64Target(op uint32, form arm64Form, pc uint64) uint64 {
	switch form {
	case arm64Branch, arm64Link:
		return pc + uint64(signed(op, 0, 26)<<2)
	case arm64Test:
		return pc + uint64(signed(op, 5, 14)<<2)
	case arm64Address:
		d := signed(op, 5, 19)<<2 | int64(op>>29&3)
		if op>>31 == 1 { // adrp
			return pc&^0xfff + uint64(d<<12)
		}
		return pc + uint64(d)
	}
	return pc + uint64(signed(op, 5, 19)<<2)
}

// arm64Kinds are the kinds of forms that are not Plain.
var arm64Kinds = [...]Kind{
	arm64Branch: Jump, arm64Conditional: Branch, arm64Test: Branch, arm64Link: Call, arm64Register: Jump,
	arm64LinkRegister: Call, arm64Return: Return, arm64System: Syscall, arm64Trap: Trap,
	arm64LoadExclusive: Exclusive, arm64Fixed: Plain,
}

func decodeARM64(code []byte, pc uint64) (Instruction, error) {
	if len(code) < 4 {
		return Instruction{}, fmt.Errorf("%w: %d bytes", ErrInvalid, len(code))
	}
	op := binary.LittleEndian.Uint32(code)
	form := arm64FormOf(op)
	i := Instruction{Size: 4, Next: pc + 4, Kind: arm64Kinds[form]}
	switch form {
	case arm64Branch, arm64Conditional, arm64Test, arm64Link:
		i.Direct, i.Target = true, arm64Target(op, form, pc)
	}
	return i, nil
}
