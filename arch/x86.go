// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// Column numbers: psABI amd64 figure 3.36, psABI i386 table 2.14, psABI for
// the Intel MCU. Preserved registers: psABI amd64 figure 3.4, i386 table 2.3.

var (
	amd64Readelf = []run{
		{0, "rax rdx rcx rbx rsi rdi rbp rsp r[8-15] rip"},
		{17, "xmm[0-15] st[0-7] mm[0-7]"},
		{49, "rflags es cs ss ds fs gs"},
		{58, "fs.base gs.base"},
		{62, "tr ldtr mxcsr fcw fsw xmm[16-31]"},
		{118, "k[0-7]"},
	}
	// readelf 2.40 does not know the numbers of APX's extended registers.
	amd64Names   = []run{{130, "r[16-31]"}}
	amd64Aliases = []run{{16, "pc"}, {49, "eflags"}, {58, "fs_base gs_base"}}
	// rbx, rbp, rsp, r12 to r15.
	amd64Saved = []span{{3, 3}, {6, 7}, {12, 15}}

	// The Intel MCU has neither x87 nor SSE.
	iamcuReadelf = []run{
		{0, "eax ecx edx ebx esp ebp esi edi eip eflags"},
		{40, "es cs ss ds fs gs"},
		{48, "tr ldtr"},
	}
	i386Readelf = []run{
		{0, "eax ecx edx ebx esp ebp esi edi eip eflags"},
		{11, "st[0-7]"},
		{21, "xmm[0-7] mm[0-7] fcw fsw mxcsr"},
		{40, "es cs ss ds fs gs"},
		{48, "tr ldtr"},
		{93, "k[0-7]"},
	}
	i386Aliases = []run{{8, "pc"}}
	// ebx, esp, ebp, esi, edi.
	i386Saved = []span{{3, 7}}
)

var x86Rows = []row{
	amd64Row("x86-64", elf.EM_X86_64, elf.ELFCLASS64, &amd64, &amd64Code),
	amd64Row("x32", elf.EM_X86_64, elf.ELFCLASS32, &x32, &amd64Code),
	amd64Row("l1om", elf.EM_L10M, elf.ELFCLASS64, nil, nil),
	amd64Row("k1om", elf.EM_K10M, elf.ELFCLASS64, nil, nil),
	{
		name: "i386", machine: elf.EM_386, class: elf.ELFCLASS32, data: elf.ELFDATA2LSB,
		code: 1, factor: -4, sp: 4, fp: 5, ra: 8, pc: 8,
		aliases: i386Aliases, saved: i386Saved,
		readelf: i386Readelf, readelfLimit: 101,
		description: &i386, instructions: &i386Code,
	},
	{
		name: "iamcu", machine: emIAMCU, class: elf.ELFCLASS32, data: elf.ELFDATA2LSB,
		code: 1, factor: -4, sp: 4, fp: 5, ra: 8, pc: 8,
		aliases: i386Aliases, saved: i386Saved,
		readelf: iamcuReadelf, readelfLimit: 101,
	},
}

// emIAMCU is EM_IAMCU. debug/elf has only its former name.
const emIAMCU = elf.EM_486

func amd64Row(name string, machine elf.Machine, class elf.Class, d *Description, i *instructions) row {
	return row{
		name: name, machine: machine, class: class, data: elf.ELFDATA2LSB,
		registerSize: 8,
		code:         1, factor: -8, sp: 7, fp: 6, ra: 16, pc: 16,
		names: amd64Names, aliases: amd64Aliases, saved: amd64Saved,
		readelf: amd64Readelf, readelfLimit: 126,
		description: d, instructions: i,
	}
}

var amd64 = Description{
	Relocations: amd64Relocations, Relative: 8, UnwindColumns: 17,
	Go: &Go{Arch: "amd64", G: 14},
	// psABI amd64 §3.2.3: rax, rdx; xmm0, xmm1; st0.
	Results:   &Results{Words: []uint8{0, 1}, Vectors: []uint8{17, 18}, Extended: []uint8{33}},
	Processor: x86Processor,
	Assembler: &amd64Assembler,
	General:   &amd64General, Perf: &amd64Perf, Vectors: &amd64Vectors,
	Uname: "x86_64", AddressBits: 47, // Documentation/arch/x86/x86_64/5level-paging.rst
	Compatible: elf.EM_386,
	SignalFrames: []SignalFrame{
		// mov $__NR_rt_sigreturn,%rax; syscall. struct ucontext with its sigcontext at
		// 40: arch/x86/include/uapi/asm/sigcontext.h.
		{Code: "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", Context: 40, PC: 16 * 8,
			Columns: []uint8{8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16}},
	},
	FrameRecord: &x86Record, RegionUnit: 1,
	C:             CABI{LongDouble: X87},
	ELFABI:        ELFABI{UnwindSection: amd64UnwindSection},
	ThreadStorage: &ThreadStorage{Pointer: 58, Below: true}, // fs.base
}

// x32 has the registers of x86-64, but short pointers.
var x32 = Description{
	Relocations: amd64Relocations, Relative: 8, UnwindColumns: 17, Assembler: &amd64Assembler, Processor: x86Processor,
	General: &amd64General, Perf: &amd64Perf, Vectors: &amd64Vectors,
	FrameRecord: &x86Record,
	C:           CABI{LongDouble: X87, LongDoubleSize: 16},
	ELFABI:      ELFABI{UnwindSection: amd64UnwindSection},
}

var i386 = Description{
	Relocations:   "0:none 1:abs32 2:rel32 20:abs16 21:rel16 22:abs8 23:rel8",
	UnwindColumns: 9,
	Go:            &Go{Arch: "386"},
	Assembler:     &Assembler{Comment: "#", Prefix: "%", Named: 128, Padding: 6},
	Processor:     x86Processor,
	// arch/x86/include/asm/user32.h, struct user_regs_struct32: ebx ecx edx esi edi
	// ebp eax ds es fs gs orig_eax eip cs eflags esp ss.
	General: &RegisterSet{Width: 4, PC: 12, Columns: []uint8{
		3, 1, 2, 6, 7, 5, 0, 43, 40, 44, 45, NoColumn,
		8, 41, 9, 4, 42,
	}},
	// As on x86-64, without r8 to r15.
	Perf: &RegisterSet{Width: 8, PC: 8, Columns: []uint8{
		0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 41, 42, 43, 40, 44, 45,
	}},
	Uname: "i?86",
	SignalFrames: []SignalFrame{
		// pop %eax; mov $__NR_sigreturn,%eax; int $0x80. The signal's number, then
		// struct sigcontext_32, which starts with four words for segments:
		// arch/x86/include/asm/sigframe.h, sigframe_ia32.
		{Code: "\x58\xb8\x77\x00\x00\x00\xcd\x80", Context: 4 + 16, Columns: i386Sigcontext[:], PC: 10 * 4},
		// mov $__NR_rt_sigreturn,%eax; int $0x80. The number, two pointers, siginfo,
		// struct ucontext_ia32 with its sigcontext at 20: rt_sigframe_ia32.
		{Code: "\xb8\xad\x00\x00\x00\xcd\x80", Context: 12 + 128 + 20 + 16, Columns: i386Sigcontext[:], PC: 10 * 4},
	},
	FrameRecord: &x86Record,
	C:           CABI{LongDouble: X87, LongDoubleSize: 12, MaxAlign: 4},
}

// amd64UnwindSection is SHT_X86_64_UNWIND (psABI amd64 §4.2.1).
const amd64UnwindSection = elf.SHT_LOPROC + 1

var (
	// arch/x86/include/asm/user_64.h, struct user_regs_struct: r15 r14 r13 r12 rbp
	// rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base
	// gs_base ds es fs gs.
	amd64General = RegisterSet{Width: 8, PC: 16, Columns: []uint8{
		15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, NoColumn,
		16, 51, 49, 7, 52, 58, 59, 53, 50, 54, 55,
	}}
	// ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 to r15. The vector
	// registers that follow are in halves.
	amd64Perf = RegisterSet{Width: 8, PC: 8, Columns: []uint8{
		0, 3, 2, 1, 4, 5, 6, 7, 16, 49, 51, 52, 53, 50, 54, 55, 8, 9, 10, 11, 12, 13, 14, 15,
	}}
	// arch/x86/include/asm/user_64.h, user_i387_struct: xmm0 to xmm15.
	amd64Vectors   = VectorSet{First: 17, Count: 16, Start: 160, Size: 512, Width: 16}
	i386Sigcontext = [...]uint8{7, 6, 5, 4, 3, 2, 1, 0, NoColumn, NoColumn, 8}

	amd64Assembler = Assembler{Comment: "#", Prefix: "%", Named: 128, Numbered: 16, Padding: 6}

	x86Processor = Processor{
		Trap: []byte{0xcc}, TrapOperand: []byte{0}, // int3
		Return:       []byte{0xc3},                   // ret
		Idle:         []byte{0xf3, 0x90, 0xeb, 0xfc}, // 1: pause; jmp 1b
		CoherentCode: true,                           // Intel SDM volume 3, "Self-Modifying Code"
	}

	// The frame pointer is pushed directly below the return address, so the caller's frame
	// starts above it (psABI amd64 §3.2.2, i386 §2.2.2).
	x86Record = FrameRecord{FP: 0, RA: 1, CFA: 2, Exact: true}
)

var (
	amd64Code = instructions{
		unit: 1, call: x86Call, returns: x86Returns, atEntry: x86AtEntry, jump: x86Jump,
		setsFramePointer: func(code []byte) (int64, bool) {
			return 0, bytes.HasPrefix(code, x86MovRBP[0]) || bytes.HasPrefix(code, x86MovRBP[1])
		},
		stub: amd64Stub, stubStep: 8, stubsAligned: true,
	}
	i386Code = instructions{
		unit: 1, call: x86Call, returns: x86Returns, atEntry: x86AtEntry, jump: x86Jump,
		setsFramePointer: func(code []byte) (int64, bool) {
			return 0, bytes.HasPrefix(code, x86MovRBP[0][1:]) || bytes.HasPrefix(code, x86MovRBP[1][1:])
		},
		stub: i386Stub, stubStep: 8, stubsAligned: true,
	}
)

// x86MovRBP are the two encodings of mov %rsp,%rbp. Those of mov %esp,%ebp lack the first byte.
var x86MovRBP = [2][]byte{{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}}

// x86Entries are the landing pads for indirect branches at the start of functions.
var x86Entries = [...][]byte{{0xf3, 0x0f, 0x1e, 0xfa}, {0xf3, 0x0f, 0x1e, 0xfb}}

// afterX86Entry returns the code and its address after a landing pad.
func afterX86Entry(code []byte, pc uint64) ([]byte, uint64) {
	for _, b := range x86Entries {
		if bytes.HasPrefix(code, b) {
			return code[len(b):], pc + uint64(len(b))
		}
	}
	return code, pc
}

// x86Call: Intel SDM volume 2, CALL: E8 with four bytes of distance, FF /2 with any form of
// operand. Prefixes are before these bytes.
func x86Call(_ *Machine, code []byte, returns uint64) (Call, bool) {
	if b := tail(code, 5); b != nil && b[0] == 0xe8 {
		return Call{returns + uint64(int64(int32(binary.LittleEndian.Uint32(b[1:])))), true}, true
	}
	for size := 2; size <= 7; size++ {
		if b := tail(code, size); b != nil && b[0] == 0xff && b[1]>>3&7 == 2 && x86OperandSize(b[1:]) == size-1 {
			return Call{}, true
		}
	}
	return Call{}, false
}

// x86OperandSize returns the size of a ModRM byte and its operand (Intel SDM volume 2, §2.1.3),
// or 0 if it depends on a missing SIB byte.
func x86OperandSize(b []byte) int {
	mode, rm := b[0]>>6, b[0]&7
	size := 1
	if mode != 3 && rm == 4 {
		if len(b) < 2 {
			return 0
		}
		size, rm = 2, b[1]&7
	}
	switch {
	case mode == 1:
		return size + 1
	case mode == 2, mode == 0 && rm == 5:
		return size + 4
	}
	return size
}

func x86Returns(code []byte) bool {
	if len(code) > 1 && (code[0] == 0xf2 || code[0] == 0xf3) { // bnd, and rep for old AMD processors
		code = code[1:]
	}
	return len(code) > 0 && (code[0] == 0xc3 || code[0] == 0xc2)
}

func x86AtEntry(m *Machine, code []byte, at uint64) (depth uint64, ok bool) {
	code, start := afterX86Entry(code, 0)
	switch {
	case at == 0, at == start:
		return 0, true
	case at == start+1 && len(code) > 0 && code[0] == 0x55: // push %rbp
		return uint64(m.RegisterSize), true
	}
	return 0, false
}

func x86Jump(code []byte, pc uint64) (target uint64, ok bool) {
	code, pc = afterX86Entry(code, pc)
	switch {
	case len(code) >= 5 && code[0] == 0xe9:
		return pc + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(code[1:])))), true
	case len(code) >= 2 && code[0] == 0xeb:
		return pc + 2 + uint64(int64(int8(code[1]))), true
	}
	return 0, false
}

// x86Stub returns the second byte and the operand of the indirect jump at the start of a stub,
// and the address after the jump.
func x86Stub(code []byte, pc uint64) (modRM byte, operand int32, after uint64, size uint64, ok bool) {
	start := pc
	code, pc = afterX86Entry(code, pc)
	if len(code) > 0 && code[0] == 0xf2 { // bnd
		code, pc = code[1:], pc+1
	}
	if len(code) < 6 || code[0] != 0xff {
		return 0, 0, 0, 0, false
	}
	size = 16
	if pc == start && len(code) >= 8 && code[6] == 0x66 && code[7] == 0x90 { // xchg %ax,%ax
		size = 8 // of .plt.got, without indirect branch tracking
	}
	return code[1], int32(binary.LittleEndian.Uint32(code[2:])), pc + 6, size, true
}

func amd64Stub(code []byte, pc uint64) (s Stub, ok bool) {
	modRM, operand, after, size, ok := x86Stub(code, pc)
	return Stub{Slot: after + uint64(int64(operand)), Size: size}, ok && modRM == 0x25 // jmp *slot(%rip)
}

func i386Stub(code []byte, pc uint64) (s Stub, ok bool) {
	modRM, operand, _, size, ok := x86Stub(code, pc)
	// jmp *slot; jmp *offset(%ebx), with the address of the global offset table in %ebx.
	return Stub{Slot: uint64(uint32(operand)), Size: size, FromGOT: modRM == 0xa3}, ok && (modRM == 0x25 || modRM == 0xa3)
}

const amd64Relocations = "0:none 1:abs64 2:rel32 10:abs32 11:abs32 12:abs16 13:rel16 14:abs8 15:rel8 24:rel64"
