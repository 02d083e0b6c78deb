// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Column numbers: Arm ABI documents AADWARF64 and AADWARF32, "DWARF register
// names". Preserved registers: AAPCS64 §6.1, AAPCS32 §6.1.

var (
	arm64Readelf = []run{
		{0, "x[0-30] sp"},
		{33, "elr"},
		{46, "vg ffr p[0-15] v[0-31] z[0-31]"},
	}
	// These are in AADWARF64, but not in readelf 2.40.
	arm64Names = []run{
		{32, "pc"},
		{34, "ra_sign_state"},
	}
	armNames = []run{
		{0, "r[0-12] sp lr pc"},
		{64, "s[0-31]"},  // obsolescent: single-precision VFP
		{256, "d[0-31]"}, // VFP and Advanced SIMD
	}
)

var armRows = []row{
	arm64Row("arm64", elf.ELFCLASS64, &arm64),
	arm64Row("arm64ilp32", elf.ELFCLASS32, &arm64ilp32),
	{
		// gas writes these factors; LLVM writes 1 for the code's.
		name: "arm", machine: elf.EM_ARM, class: elf.ELFCLASS32, data: elf.ELFDATA2LSB,
		code: 2, factor: -4, sp: 13, fp: 11, ra: 14, pc: 15, modeBits: 1,
		names:   armNames,
		aliases: []run{{13, "r[13-15]"}, {11, "fp ip"}},
		// r4 to r11, sp, s16 to s31, which are d8 to d15.
		saved:       []span{{4, 11}, {13, 13}, {80, 95}, {264, 271}},
		description: &arm, instructions: &armCode,
	},
}

func arm64Row(name string, class elf.Class, d *Description) row {
	return row{
		name: name, machine: elf.EM_AARCH64, class: class, data: elf.ELFDATA2LSB,
		registerSize: 8,
		code:         4, factor: -8, sp: 31, fp: 29, ra: 30, pc: 32,
		names: arm64Names,
		// Assemblers write a rule for column 72 as one for d8.
		aliases: []run{{29, "fp lr"}, {64, "d[0-31]"}},
		// x19 to x28, fp, sp, the low halves of v8 to v15.
		saved:   []span{{19, 29}, {31, 31}, {72, 79}},
		readelf: arm64Readelf, readelfLimit: 128,
		description: d, instructions: &arm64Code,
	}
}

var arm64 = Description{
	Relocations: arm64Relocations, Relative: 1027,
	Go:        &Go{Arch: "arm64", ArgumentsOffset: 8, G: 28},
	Results:   &Results{Words: []uint8{0, 1}, Vectors: []uint8{64, 65, 66, 67}, Homogeneous: 4, Address: 8}, // AAPCS64 §6.9
	Processor: arm64Processor,
	Assembler: &arm64Assembler,
	// arch/arm64/include/uapi/asm/ptrace.h, struct user_pt_regs: x0 to x30, sp, pc,
	// pstate.
	General: &RegisterSet{Width: 8, PC: 32, Columns: []uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		32, NoColumn,
	}},
	Perf: &arm64Perf, Vectors: &arm64Vectors,
	ThreadRegister: 36,                                          // tpidr_el0
	Uname:          "aarch64 aarch64_be arm64", AddressBits: 48, // Documentation/arch/arm64/memory.rst
	Compatible: elf.EM_ARM,
	SignalFrames: []SignalFrame{
		// mov x8,#__NR_rt_sigreturn; svc #0. siginfo of 128 bytes, then struct
		// ucontext with its sigcontext at 176, which starts with the fault address:
		// arch/arm64/include/uapi/asm/sigcontext.h.
		{Code: "\x68\x11\x80\xd2\x01\x00\x00\xd4", Context: 128 + 176 + 8, Columns: pcNumbers[1:], PC: 32 * 8},
	},
	FrameRecord: &arm64Record, SignsReturns: true, RegionUnit: 4, EntryCode: 4 * 23,
	C: armC, ELFABI: ELFABI{MappingSymbols: true},
	ThreadStorage: &ThreadStorage{Pointer: 36, Header: 16}, // AAELF64, "Thread Local Storage"
}

var arm64ilp32 = Description{
	Perf: &arm64Perf, Vectors: &arm64Vectors, FrameRecord: &arm64Record, SignsReturns: true, EntryCode: 4 * 23,
	Relocations: arm64Relocations, Relative: 1027, Assembler: &arm64Assembler, Processor: arm64Processor,
	C: armC, ELFABI: ELFABI{MappingSymbols: true},
}

// armC: AAPCS64 §10.1.2, and the C++ ABIs for the Arm architectures, §3.2.1.
var armC = CABI{CharUnsigned: true, VirtualInAdjustment: true}

var arm64Processor = Processor{
	Trap:        []byte{0x00, 0x00, 0x20, 0xd4}, // brk #0
	TrapOperand: []byte{0xe0, 0xff, 0x1f, 0x00},
	TrapStops:   true,
	Return:      []byte{0xc0, 0x03, 0x5f, 0xd6},                         // ret
	Idle:        []byte{0x3f, 0x20, 0x03, 0xd5, 0xff, 0xff, 0xff, 0x17}, // 1: yield; b 1b
	// Linux reports a watchpoint before the access (Documentation/arch/arm64).
	WatchesBefore: true,
}

var (
	arm64Assembler = Assembler{Comment: "//", Named: 32}
	// x0 to x29, lr, sp, pc.
	arm64Perf = RegisterSet{Width: 8, PC: 32, Columns: []uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
	}}
	// arch/arm64/include/uapi/asm/ptrace.h, user_fpsimd_state: v0 to v31.
	arm64Vectors = VectorSet{First: 64, Count: 32, Start: 0, Size: 528, Width: 16}
	// gcc and assembly put the record at the bottom of the frame, LLVM at the top. AAPCS64
	// §6.4.6 allows both.
	arm64Record = FrameRecord{FP: 0, RA: 1, CFA: 2}
)

var arm = Description{
	Relocations:   "0:none 2:abs32 3:rel32 5:abs16 8:abs8 40:none 42:rel31",
	C:             armC,
	ELFABI:        ELFABI{MappingSymbols: true, UnwindIndex: elf.PT_LOPROC + 1}, // PT_ARM_EXIDX
	UnwindColumns: 16,
	Go:            &Go{Arch: "arm", ArgumentsOffset: 4, G: 10},
	Assembler:     &Assembler{Comment: "@", Named: 288, Numbered: 13},
	// arch/arm/include/uapi/asm/ptrace.h, struct pt_regs: r0 to r15, cpsr, ORIG_r0.
	General: &RegisterSet{Width: 4, PC: 15, Columns: []uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		NoColumn, NoColumn,
	}},
	// r0 to r10, fp, ip, sp, lr, pc. A kernel of 64 bits gives them the same numbers:
	// perf_reg_value in arch/arm64/kernel/perf_regs.c.
	Perf: &RegisterSet{Width: 8, PC: 15, Columns: pcNumbers[1:17]},
	// Some 64-bit kernels call themselves "arm64".
	Uname:          "arm*",
	FloatRegisters: &FloatRegisters{First: 256, Last: 287, Size: 8},
	SignalFrames: []SignalFrame{
		// mov r7,#__NR_sigreturn; svc 0, as ARM code and as Thumb. struct ucontext
		// with its sigcontext at 20, which starts with three words that are not registers:
		// arch/arm/include/asm/ucontext.h, struct sigframe.
		{Code: "\x77\x70\xa0\xe3\x00\x00\x00\xef", Context: 20 + 12, Columns: pcNumbers[1:16], PC: 15 * 4},
		{Code: "\x77\x27\x00\xdf", Context: 20 + 12, Columns: pcNumbers[1:16], PC: 15 * 4},
		{Code: "\x4f\xf0\x77\x07\x00\xdf", Context: 20 + 12, Columns: pcNumbers[1:16], PC: 15 * 4},
		// The same with __NR_rt_sigreturn and after siginfo: struct rt_sigframe.
		{Code: "\xad\x70\xa0\xe3\x00\x00\x00\xef", Context: 128 + 20 + 12, Columns: pcNumbers[1:16], PC: 15 * 4},
		{Code: "\xad\x27\x00\xdf", Context: 128 + 20 + 12, Columns: pcNumbers[1:16], PC: 15 * 4},
		{Code: "\x4f\xf0\xad\x07\x00\xdf", Context: 128 + 20 + 12, Columns: pcNumbers[1:16], PC: 15 * 4},
	},
}

var armCode = instructions{call: armCall}

var arm64Code = instructions{
	unit: 4, call: arm64Call, changesSP: arm64ChangesSP, jump: arm64Jump,
	setsFramePointer: func(code []byte) (int64, bool) {
		// add x29, sp, #imm; mov x29, sp is one of them
		op := firstWord(code)
		return int64(op>>10&0xfff) << (op >> 22 & 1 * 12), op&0xff8003ff == 0x910003fd
	},
	returns: func(code []byte) bool { // ret, retaa, retab
		op := firstWord(code)
		return op == 0xd65f03c0 || op&0xfffffbff == 0xd65f0bff
	},
	stub: arm64Stub, stubStep: 4,
}

// arm64Call: Arm ARM C4.1.66: bl, blr and the latter's authenticated forms.
func arm64Call(_ *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(binary.LittleEndian, code, 4)
	switch {
	case op&0xfc000000 == 0x94000000:
		return Call{returns - 4 + extend(op, 0, 26)<<2, true}, true
	case op&0xfffffc1f == 0xd63f0000, op&0xfefff800 == 0xd63f0800:
		return Call{}, true
	}
	return Call{}, false
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

// afterBTI returns the code and its address after bti c, the landing pad for indirect branches
// at the start of functions.
func afterBTI(code []byte, pc uint64) ([]byte, uint64) {
	if firstWord(code) == 0xd503245f {
		return code[4:], pc + 4
	}
	return code, pc
}

// arm64Stub: adrp x16, page; ldr x17, [x16, #offset].
func arm64Stub(code []byte, pc uint64) (s Stub, ok bool) {
	start := pc
	code, pc = afterBTI(code, pc)
	if len(code) < 8 {
		return Stub{}, false
	}
	adrp, ldr := firstWord(code), firstWord(code[4:])
	page := extend(adrp>>5&0x7ffff<<2|adrp>>29&3, 0, 21) << 12
	s = Stub{Slot: pc&^0xfff + page + uint64(ldr>>10&0xfff)*8, Size: 16}
	if pc != start {
		s.Size = 24
	}
	return s, adrp&0x9f00001f == 0x90000010 && ldr&0xffc003ff == 0xf9400211
}

func arm64Jump(code []byte, pc uint64) (target uint64, ok bool) {
	code, pc = afterBTI(code, pc)
	op := firstWord(code)
	return pc + extend(op, 0, 26)<<2, op&0xfc000000 == 0x14000000
}

// armCall: Arm ARM F5.1 and F6.1: bl, blx, and the pair that came before blx
// (mov lr, pc and a load or move to pc).
func armCall(m *Machine, code []byte, returns uint64) (Call, bool) {
	if returns&1 == 0 {
		op := word(m.Order, code, 4)
		pc := returns - 4 + 8 // the value of pc in the instruction
		switch {
		case op>>28 == 0xf && op&0xfe000000 == 0xfa000000: // blx label, to Thumb
			return Call{pc + extend(op, 0, 24)<<2 + uint64(op>>24&1)<<1, true}, true
		case op>>28 != 0xf && op&0x0f000000 == 0x0b000000: // bl
			return Call{pc + extend(op, 0, 24)<<2, true}, true
		case op>>28 != 0xf && op&0x0ffffff0 == 0x012fff30: // blx register
			return Call{}, true
		case word(m.Order, code, 8)&0x0fffffff == 0x01a0e00f && op&0x0c00f000 == 0x0400f000,
			word(m.Order, code, 8)&0x0fffffff == 0x01a0e00f && op&0x0ffffff0 == 0x01a0f000,
			word(m.Order, code, 8)&0x0fffffff == 0x01a0e00f && op&0x0ffffff0 == 0x012fff10:
			return Call{}, true
		}
		return Call{}, false
	}
	returns &^= 1
	if b := tail(code, 4); b != nil {
		high, low := uint32(m.Order.Uint16(b)), uint32(m.Order.Uint16(b[2:]))
		if high&0xf800 == 0xf000 && low&0xc000 == 0xc000 {
			s := high >> 10 & 1
			i1, i2 := 1&^(low>>13&1^s), 1&^(low>>11&1^s)
			distance := extend(s<<24|i1<<23|i2<<22|high&0x3ff<<12|low&0x7ff<<1, 0, 25)
			if low&0x1000 != 0 { // bl
				return Call{returns + distance, true}, true
			}
			return Call{returns&^3 + distance&^3, true}, true // blx, to ARM code
		}
	}
	if b := tail(code, 2); b != nil && m.Order.Uint16(b)&0xff87 == 0x4780 { // blx register
		return Call{}, true
	}
	return Call{}, false
}

const arm64Relocations = "0:none 256:none 257:abs64 258:abs32 259:abs16 260:rel64 261:rel32 262:rel16 1:abs32 " +
	"2:abs16 3:rel32"
