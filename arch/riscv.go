// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Column numbers: RISC-V psABI, "DWARF register numbers". Preserved
// registers: the same, "Register convention".

var riscvReadelf = []run{
	{0, "zero ra sp gp tp t[0-2] s0 s1 a[0-7] s[2-11] t[3-6]"},
	{32, "ft[0-7] fs0 fs1 fa[0-7] fs[2-11] ft[8-11]"},
	{96, "v[0-31]"},
}

var riscvRows = []row{
	riscvRow("riscv64", elf.ELFCLASS64, &riscv64),
	riscvRow("riscv32", elf.ELFCLASS32, &riscv32),
}

func riscvRow(name string, class elf.Class, d *Description) row {
	return row{
		name: name, machine: elf.EM_RISCV, class: class, data: elf.ELFDATA2LSB,
		// gas writes -4 with 64-bit registers too; LLVM writes -8 there.
		code: 1, factor: -4, sp: 2, fp: 8, ra: 1,
		aliases: []run{{0, "x[0-31] f[0-31]"}, {8, "fp"}},
		// sp, gp and tp (nobody may change those), s0 to s11, fs0 to fs11.
		saved:   []span{{2, 4}, {8, 9}, {18, 27}, {40, 41}, {50, 59}},
		readelf: riscvReadelf, readelfLimit: 8192,
		csr:         true,
		description: d, instructions: &riscvCode,
	}
}

var (
	riscv64 = Description{
		Relocations: riscvRelocations, Relative: 3, Assembler: &riscvAssembler,
		Go:      &Go{Arch: "riscv64", ArgumentsOffset: 8, G: 27},
		General: &RegisterSet{Width: 8, Columns: riscvGeneral[:]},
		Perf:    &pcFirst,
		Uname:   "riscv64", Compatible: elf.EM_RISCV,
		SignalFrames: []SignalFrame{
			// li a7,__NR_rt_sigreturn; ecall. siginfo, then struct ucontext with its
			// sigcontext at 176: arch/riscv/include/uapi/asm/ucontext.h.
			{Code: "\x93\x08\xb0\x08\x73\x00\x00\x00", Context: 128 + 176, Columns: riscvGeneral[:]},
		},
		FrameRecord: &recordBelow,
		C:           CABI{CharUnsigned: true}, ELFABI: ELFABI{MappingSymbols: true},
	}
	riscv32 = Description{
		Relocations: riscvRelocations, Relative: 3, Assembler: &riscvAssembler,
		General: &RegisterSet{Width: 4, Columns: riscvGeneral[:]},
		Perf:    &pcFirst, Uname: "riscv32", FrameRecord: &recordBelow,
		C: CABI{CharUnsigned: true}, ELFABI: ELFABI{MappingSymbols: true},
	}
	riscvAssembler = Assembler{Comment: "#", Named: 128}
	// arch/riscv/include/uapi/asm/ptrace.h, struct user_regs_struct: pc, then x1 to x31.
	riscvGeneral = [...]uint8{
		NoColumn, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	}
)

// recordBelow is the frame record below the address in the frame pointer. gcc saves the
// arguments of a variadic function between the record and the caller's frame
// (riscv-elf-psabi, "Frame Pointer Convention"; LoongArch psABI).
var recordBelow = FrameRecord{FP: -2, RA: -1, CFA: 0}

var riscvCode = instructions{
	unit: 2, call: riscvCall, setsFramePointer: riscvSetsFramePointer, stub: riscvStub, stubStep: 16,
}

func riscvSetsFramePointer(code []byte) (offset int64, ok bool) {
	if len(code) >= 2 && code[0]&3 == 0 { // c.addi4spn s0
		op := uint32(binary.LittleEndian.Uint16(code))
		imm := op>>11&3<<4 | op>>7&15<<6 | op>>6&1<<2 | op>>5&1<<3
		return int64(imm), op&0xe01f == 0 && imm != 0
	}
	op := firstWord(code) // addi s0, sp, imm
	return int64(extend(op, 20, 12)), op&0xfffff == 0x10413
}

// riscvStub: auipc t3, hi; l[w|d] t3, lo(t3); jalr t1, t3; nop.
func riscvStub(code []byte, pc uint64) (s Stub, ok bool) {
	if len(code) < 8 {
		return Stub{}, false
	}
	auipc, load := firstWord(code), firstWord(code[4:])
	s = Stub{Slot: pc + extend(auipc&^0xfff, 0, 32) + extend(load, 20, 12), Size: 16}
	return s, auipc&0xfff == 0xe17 && (load&0xfffff == 0xe2e03 || load&0xfffff == 0xe3e03)
}

// riscvCall: RISC-V unprivileged ISA, RV32I and the C extension, with ra as the
// register of the link.
func riscvCall(m *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(binary.LittleEndian, code, 4)
	switch {
	case op&0xfff == 0x0ef: // jal ra
		distance := op>>31<<20 | op>>12&0xff<<12 | op>>20&1<<11 | op>>21&0x3ff<<1
		return Call{returns - 4 + extend(distance, 0, 21), true}, true
	case op&0x7fff == 0x00e7: // jalr ra
		base := op >> 15 & 31
		if high := word(binary.LittleEndian, code, 8); high&0x7f == 0x17 && high>>7&31 == base && base != 0 { // auipc
			return Call{returns - 8 + extend(high&^0xfff, 0, 32) + extend(op, 20, 12), true}, true
		}
		return Call{}, true
	}
	if b := tail(code, 2); b != nil {
		op := uint32(binary.LittleEndian.Uint16(b))
		switch {
		case op&0xf07f == 0x9002 && op>>7&31 != 0: // c.jalr
			return Call{}, true
		case op&0xe003 == 0x2001 && m.AddressSize == 4: // c.jal, of 32 bits only
			distance := op>>12&1<<11 | op>>11&1<<4 | op>>9&3<<8 | op>>8&1<<10 | op>>7&1<<6 | op>>6&1<<7 | op>>3&7<<1 | op>>2&1<<5
			return Call{returns - 2 + extend(distance, 0, 12), true}, true
		}
	}
	return Call{}, false
}

const riscvRelocations = "0:none 1:abs32 2:abs64 43:none 51:none 33:add8 34:add16 35:add32 36:add64 37:sub8 38:sub16 " +
	"39:sub32 40:sub64 52:sub6 53:set6 54:abs8 55:abs16 56:abs32 57:rel32 60:setuleb 61:subuleb"
