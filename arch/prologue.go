// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// InstructionUnit returns the alignment of the machine's instructions in bytes
// where SetsFramePointer knows them, else 0.
func (m *Machine) InstructionUnit() int {
	switch m.ELF {
	case elf.EM_AARCH64, elf.EM_LOONGARCH:
		return 4
	case elf.EM_RISCV:
		return 2
	case elf.EM_X86_64, elf.EM_386:
		return 1
	}
	return 0
}

// SetsFramePointer reports whether the instruction at the start of code makes the
// frame pointer the stack pointer plus an offset in bytes, as prologues do. Of code
// that does not start with an instruction it says nothing.
func (m *Machine) SetsFramePointer(code []byte) (offset int64, ok bool) {
	switch m.ELF {
	case elf.EM_X86_64:
		return 0, bytes.HasPrefix(code, x86MovRBP[0]) || bytes.HasPrefix(code, x86MovRBP[1])
	case elf.EM_386:
		return 0, bytes.HasPrefix(code, x86MovRBP[0][1:]) || bytes.HasPrefix(code, x86MovRBP[1][1:])
	case elf.EM_RISCV:
		if len(code) >= 2 && code[0]&3 == 0 { // c.addi4spn s0
			op := uint32(binary.LittleEndian.Uint16(code))
			imm := op>>11&3<<4 | op>>7&15<<6 | op>>6&1<<2 | op>>5&1<<3
			return int64(imm), op&0xe01f == 0 && imm != 0
		}
	}
	if len(code) < 4 {
		return 0, false
	}
	op := binary.LittleEndian.Uint32(code)
	switch m.ELF {
	case elf.EM_AARCH64: // add x29, sp, #imm; mov x29, sp is one of them
		return int64(op>>10&0xfff) << (op >> 22 & 1 * 12), op&0xff8003ff == 0x910003fd
	case elf.EM_RISCV: // addi s0, sp, imm
		return int64(extend(op, 20, 12)), op&0xfffff == 0x10413
	case elf.EM_LOONGARCH: // addi.d fp, sp, imm; addi.w
		return int64(extend(op, 10, 12)), op&0xffc003ff == 0x02c00076 || op&0xffc003ff == 0x02800076
	}
	return 0, false
}

// x86MovRBP are the two encodings of mov %rsp,%rbp; those of mov %esp,%ebp lack
// the first byte.
var x86MovRBP = [2][]byte{{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}}

// KeepsStackPointer reports whether none of a machine's instructions in code changes
// the stack pointer. It is false where that is not known: on every machine but arm64
// and PowerPC.
func (m *Machine) KeepsStackPointer(code []byte) bool {
	changes, order := arm64ChangesSP, binary.ByteOrder(binary.LittleEndian)
	switch m.ELF {
	case elf.EM_PPC64, elf.EM_PPC:
		changes, order = powerChangesSP, m.Order
	case elf.EM_AARCH64:
	default:
		return false
	}
	for ; len(code) >= 4; code = code[4:] {
		if changes(order.Uint32(code)) {
			return false
		}
	}
	return true
}

// powerChangesSP: Power ISA Book I, the instructions of functions that can write r1, by
// their primary opcode. Of some it is true where they only read it.
func powerChangesSP(op uint32) bool {
	code, first, second := op>>26, op>>21&31 == 1, op>>16&31 == 1
	switch {
	case code >= 7 && code <= 15 && code != 10 && code != 11: // arithmetic with an immediate
		return first
	case code >= 20 && code <= 30: // rotates and logic, to the second register
		return second
	case code == 31: // everything with three registers
		return first || second
	case code >= 32 && code <= 55: // loads and stores; the odd ones update the second register
		return code&1 != 0 && second || (code < 36 || code >= 40 && code < 44) && first || code == 46 && op>>21&31 <= 1
	case code == 58, code == 62: // of 8 bytes
		return op&3 == 1 && second || code == 58 && first
	}
	return false
}

// arm64ChangesSP: Arm ARM C4.1, the encodings in which register 31 is sp and is written.
func arm64ChangesSP(op uint32) bool {
	to, base := op&31 == 31, op>>5&31 == 31
	switch {
	case op&0x3f800000 == 0x11000000, // add, sub of an immediate
		op&0x3fe00000 == 0x0b200000,                           // of an extended register
		op&0x1f800000 == 0x12000000 && op&0x60000000 != 3<<29, // and, orr, eor of an immediate
		op&0xbf800000 == 0x91800000:                           // addg, subg
		return to
	case op&0x3b200400 == 0x38000400, // loads and stores, pre-indexed or post-indexed
		op&0x3a800000 == 0x28800000, // of pairs
		op&0xbe800000 == 0x0c800000: // of SIMD structures
		return base
	}
	return false
}

// Returns reports whether the instruction at the start of code returns from a
// function by the return address on the stack or in the link register. It knows
// those of x86 and arm64.
func (m *Machine) Returns(code []byte) bool {
	switch m.ELF {
	case elf.EM_X86_64, elf.EM_386:
		if len(code) > 1 && (code[0] == 0xf2 || code[0] == 0xf3) { // bnd, and rep for old AMD processors
			code = code[1:]
		}
		return len(code) > 0 && (code[0] == 0xc3 || code[0] == 0xc2)
	case elf.EM_AARCH64: // ret, retaa, retab
		if len(code) < 4 {
			return false
		}
		op := binary.LittleEndian.Uint32(code)
		return op == 0xd65f03c0 || op&0xfffffbff == 0xd65f0bff
	}
	return false
}

// x86Entries are what functions start with where indirect branches are tracked.
var x86Entries = [...][]byte{{0xf3, 0x0f, 0x1e, 0xfa}, {0xf3, 0x0f, 0x1e, 0xfb}}

// AtEntry reports where a machine whose calls push the return address has it at an
// offset within the first instructions of a function: code are its first bytes, at
// is the offset of the instruction that runs next. The return address lies at the
// stack pointer plus depth bytes. It is false after those instructions, on other
// machines, and where the function starts in another way.
func (m *Machine) AtEntry(code []byte, at uint64) (depth uint64, ok bool) {
	if m.ELF != elf.EM_X86_64 && m.ELF != elf.EM_386 {
		return 0, at == 0
	}
	start := uint64(0)
	for _, b := range x86Entries {
		if bytes.HasPrefix(code, b) {
			start = 4
		}
	}
	switch {
	case at == 0, at == start:
		return 0, true
	case at == start+1 && start < uint64(len(code)) && code[start] == 0x55: // push %rbp
		return uint64(m.RegisterSize), true
	}
	return 0, false
}

// StubSlot returns the address of the word that a stub of the procedure linkage
// table jumps through, and whether the instructions at the start of code, which
// stand at pc, are such a stub. It knows those of x86-64 and arm64.
func (m *Machine) StubSlot(code []byte, pc uint64) (slot uint64, ok bool) {
	switch m.ELF {
	case elf.EM_X86_64:
		if bytes.HasPrefix(code, x86Entries[0]) {
			code, pc = code[4:], pc+4
		}
		if len(code) > 0 && code[0] == 0xf2 { // bnd
			code, pc = code[1:], pc+1
		}
		if len(code) >= 6 && code[0] == 0xff && code[1] == 0x25 { // jmp *slot(%rip)
			return pc + 6 + uint64(int64(int32(binary.LittleEndian.Uint32(code[2:])))), true
		}
	case elf.EM_AARCH64:
		if len(code) >= 4 && binary.LittleEndian.Uint32(code) == 0xd503245f { // bti c
			code, pc = code[4:], pc+4
		}
		if len(code) < 8 {
			return 0, false
		}
		// adrp x16, page; ldr x17, [x16, #offset]
		adrp, ldr := binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:])
		page := extend(adrp>>5&0x7ffff<<2|adrp>>29&3, 0, 21) << 12
		return pc&^0xfff + page + uint64(ldr>>10&0xfff)*8, adrp&0x9f00001f == 0x90000010 && ldr&0xffc003ff == 0xf9400211
	}
	return 0, false
}

// JumpTarget returns where the instruction at the start of code, which stands at pc,
// jumps, and whether it is a direct jump, without condition. It knows those of x86 and
// arm64.
func (m *Machine) JumpTarget(code []byte, pc uint64) (target uint64, ok bool) {
	switch m.ELF {
	case elf.EM_X86_64, elf.EM_386:
		for _, b := range x86Entries {
			if bytes.HasPrefix(code, b) {
				code, pc = code[4:], pc+4
			}
		}
		switch {
		case len(code) >= 5 && code[0] == 0xe9:
			target = pc + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(code[1:]))))
		case len(code) >= 2 && code[0] == 0xeb:
			target = pc + 2 + uint64(int64(int8(code[1])))
		default:
			return 0, false
		}
	case elf.EM_AARCH64:
		if len(code) >= 4 && binary.LittleEndian.Uint32(code) == 0xd503245f { // bti c
			code, pc = code[4:], pc+4
		}
		op := word(binary.LittleEndian, code, len(code))
		if op&0xfc000000 != 0x14000000 {
			return 0, false
		}
		target = pc + extend(op, 0, 26)<<2
	default:
		return 0, false
	}
	if m.AddressSize == 4 {
		target &= 0xffffffff
	}
	return target, true
}
