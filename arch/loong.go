// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Column numbers: "DWARF for the LoongArch Architecture". Names and preserved
// registers: LoongArch psABI, "Register convention".

var loongRows = []row{
	loongRow("loong64", elf.ELFCLASS64, &loong64),
	loongRow("loong32", elf.ELFCLASS32, &loong32),
}

func loongRow(name string, class elf.Class, d *Description) row {
	return row{
		name: name, machine: elf.EM_LOONGARCH, class: class, data: elf.ELFDATA2LSB,
		// gas/config/tc-loongarch.h; -4 with 64-bit registers too.
		code: 1, factor: -4, sp: 3, fp: 22, ra: 1,
		names: []run{
			{0, "zero ra tp sp a[0-7] t[0-8] r21 fp s[0-8]"},
			{32, "fa[0-7] ft[0-15] fs[0-7]"},
		},
		aliases: []run{{0, "r[0-31] f[0-31]"}, {22, "s9"}},
		// tp, sp, r21 (reserved), fp, s0 to s8, fs0 to fs7.
		saved:       []span{{2, 3}, {21, 31}, {56, 63}},
		description: d, instructions: &loongCode,
	}
}

var (
	loong64 = Description{
		Relocations: loongRelocations, Relative: 3,
		Go: &Go{Arch: "loong64", ArgumentsOffset: 8, G: 22},
		// arch/loongarch/include/uapi/asm/ptrace.h, struct user_pt_regs: r0 to r31,
		// orig_a0, csr_era, csr_badv, ten that are reserved.
		General: &RegisterSet{Width: 8, PC: 33, Columns: []uint8{
			0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
			16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
			NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
			NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
		}},
		Perf: &pcFirst, Uname: "loongarch64", Compatible: elf.EM_LOONGARCH,
		SignalFrames: []SignalFrame{
			// li.w a7,__NR_rt_sigreturn; syscall 0. siginfo of 128 bytes, then struct
			// ucontext with its sigcontext at 176: the pc, then r0 to r31
			// (arch/loongarch/include/uapi/asm/ucontext.h, sigcontext.h).
			{Code: "\x0b\x2c\x82\x03\x00\x00\x2b\x00", Context: 128 + 176, Columns: pcNumbers[:]},
		},
		FrameRecord: &recordBelow,
	}
	loong32 = Description{Relocations: loongRelocations, Relative: 3, Perf: &pcFirst, Uname: "loongarch32", FrameRecord: &recordBelow}

	loongCode = instructions{
		unit: 4, call: loongCall, changesSP: loongChangesSP, jump: loongJump, stub: loongStub, stubStep: 16,
		returns: func(code []byte) bool { return firstWord(code) == 0x4c000020 }, // jirl zero, ra, 0
		setsFramePointer: func(code []byte) (int64, bool) { // addi.d fp, sp, imm; addi.w
			op := firstWord(code)
			return int64(extend(op, 10, 12)), op&0xffc003ff == 0x02c00076 || op&0xffc003ff == 0x02800076
		},
	}
)

// loongCall: LoongArch Reference Manual volume 1 §2.2.5: bl, and jirl with ra as the link
// register, after pcaddu18i if the target is far away.
func loongCall(_ *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(binary.LittleEndian, code, 4)
	switch {
	case op>>26 == 0x15: // bl
		return Call{returns - 4 + extend(op&0x3ff<<16|op>>10&0xffff, 0, 26)<<2, true}, true
	case op>>26 == 0x13 && op&31 == 1: // jirl ra
		if high := word(binary.LittleEndian, code, 8); high>>25 == 0x0f && high&31 == op>>5&31 { // pcaddu18i
			return Call{returns - 8 + extend(high, 5, 20)<<18 + extend(op, 10, 16)<<2, true}, true
		}
		return Call{}, true
	}
	return Call{}, false
}

// loongChangesSP: LoongArch Reference Manual volume 1, appendix B. The low bits are the register
// that an instruction writes, except in jumps and branches other than jirl, where they belong to
// the distance, and in stores, which read the register.
func loongChangesSP(op uint32) bool {
	branch := op>>26 >= 0x10 && op>>26 <= 0x1b && op>>26 != 0x13
	return op&31 == 3 && !branch && op>>24 != 0x29
}

// loongJump: b.
func loongJump(code []byte, pc uint64) (target uint64, ok bool) {
	op := firstWord(code)
	return pc + extend(op&0x3ff<<16|op>>10&0xffff, 0, 26)<<2, op>>26 == 0x14
}

// loongStub: pcaddu12i t3, hi; ld.[wd] t3, t3, lo; jirl; nop.
func loongStub(code []byte, pc uint64) (s Stub, ok bool) {
	if len(code) < 8 {
		return Stub{}, false
	}
	high, load := firstWord(code), firstWord(code[4:])
	s = Stub{Slot: pc + extend(high, 5, 20)<<12 + extend(load, 10, 12), Size: 16}
	return s, high&0xfe00001f == 0x1c00000f && (load&0xffc003ff == 0x28c001ef || load&0xffc003ff == 0x288001ef)
}

const loongRelocations = "0:none 1:abs32 2:abs64 100:none 102:none 47:add8 48:add16 49:add24 50:add32 51:add64 " +
	"52:sub8 53:sub16 54:sub24 55:sub32 56:sub64 99:rel32 105:set6 106:sub6 107:adduleb " +
	"108:subuleb 109:rel64"
