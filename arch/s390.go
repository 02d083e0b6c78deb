// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Column numbers: "ELF Application Binary Interface s390x Supplement", table
// of DWARF registers. Floating-point and vector registers come in the order
// in which they pair up. Preserved registers: the same, "Register usage".

var (
	s390Readelf = []run{
		{16, "f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15"},
		{32, "cr[0-15] a[0-15] pswm pswa"},
		{68, "v16 v18 v20 v22 v17 v19 v21 v23 v24 v26 v28 v30 v25 v27 v29 v31"},
	}
	// readelf has no names for the general registers: it prints numbers,
	// which read the same.
	s390Names = []run{{0, "r[0-15]"}}
)

var s390Rows = []row{
	{
		name: "s390x", machine: elf.EM_S390, class: elf.ELFCLASS64, data: elf.ELFDATA2MSB,
		code: 1, factor: -8, sp: 15, fp: -1, ra: 14, cfaOffset: 160,
		names: s390Names,
		// r6 to r13, r15, f8 to f15, the thread pointer in a0 and a1.
		saved:   []span{{6, 13}, {15, 15}, {24, 31}, {48, 49}},
		readelf: s390Readelf, readelfLimit: 84,
		description: &s390x, instructions: &s390Code,
	},
	{
		name: "s390", machine: elf.EM_S390, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 1, factor: -4, sp: 15, fp: -1, ra: 14, cfaOffset: 96, modeBits: 1 << 31,
		names: s390Names,
		// r6 to r13, r15, f4 and f6, the thread pointer in a0.
		saved:   []span{{6, 13}, {15, 15}, {18, 19}, {48, 48}},
		readelf: s390Readelf, readelfLimit: 84,
		description: &s390, instructions: &s390Code,
	},
}

// Back chains: ELF ABI s390x Supplement, "The Stack Frame". A function saves its registers in
// its caller's frame, and sets the chain only if it was compiled with -mbackchain.

var s390x = Description{
	Relocations: s390Relocations, Relative: 12, UnwindColumns: 16,
	Go:        &Go{Arch: "s390x", ArgumentsOffset: 8, G: 13},
	Assembler: &s390Assembler,
	// arch/s390/include/uapi/asm/ptrace.h, s390_regs: the mask and the address of
	// the PSW, r0 to r15, a0 to a15 of four bytes each, orig_gpr2.
	General: &RegisterSet{Width: 8, PC: 1, Columns: s390xSaved[:27]},
	// arch/s390/include/uapi/asm/ptrace.h, s390_fp_regs: fpc, f0 to f15.
	Floats: &RegisterSet{Width: 8, PC: -1, Columns: s390xSaved[26:]},
	Perf:   &s390Perf,
	Uname:  "s390x", Compatible: elf.EM_S390,
	SignalFrames: []SignalFrame{
		// svc __NR_sigreturn. The caller's 160 bytes, the signal mask and a pointer
		// to the registers, which follow: arch/s390/kernel/signal.c, struct sigframe.
		{Code: "\x0a\x77", Context: 160 + 16, Columns: s390xSaved[:], PC: 8},
		// svc __NR_rt_sigreturn. The caller's 160 bytes, the call itself, siginfo,
		// struct ucontext with its registers at 40: struct rt_sigframe.
		{Code: "\x0a\xad", Context: 160 + 8 + 128 + 40, Columns: s390xSaved[:], PC: 8},
	},
	BackChain:      &BackChain{ReturnAddress: 14 * 8},
	FloatRegisters: &s390Floats, C: s390C, ELFABI: ELFABI{LongHash: true},
}

var s390 = Description{
	Relocations: s390Relocations, Relative: 12, UnwindColumns: 16, Assembler: &s390Assembler,
	// s390_compat_regs of arch/s390/include/asm/compat.h: the access registers have columns, and
	// four bytes of padding follow, because the PSW is aligned to eight.
	General: &RegisterSet{Width: 4, Align: 8, PC: 1, Columns: s390Saved[:]},
	Perf:    &s390Perf,
	Uname:   "s390",
	SignalFrames: []SignalFrame{
		// The same for 31 bits, with 96 bytes of the caller and the PSW aligned to eight:
		// arch/s390/kernel/compat_signal.c, sigframe32 and rt_sigframe32.
		{Code: "\x0a\x77", Context: 96 + 16, Columns: s390Saved[:34], PC: 4},
		{Code: "\x0a\xad", Context: 96 + 8 + 128 + 24, Columns: s390Saved[:34], PC: 4},
	},
	BackChain:      &BackChain{ReturnAddress: 14 * 4},
	FloatRegisters: &s390Floats, C: s390C,
}

var (
	s390Floats = FloatRegisters{First: 16, Last: 31, Size: 8, HighBits: true}
	s390C      = CABI{CharUnsigned: true, PackedDecimals: true}
)

var (
	// The PSW's mask and address, r0 to r15, a0 to a15 of four bytes each, fpc, and f0 to f15, in
	// which functions save general registers. The set of general registers has orig_gpr2 in the
	// place of fpc.
	s390xSaved = [...]uint8{
		64, 65, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
		16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31,
	}
	// The PSW, r0 to r15, a0 to a15, padding.
	s390Saved = [...]uint8{
		64, 65, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, NoColumn, NoColumn,
	}
	// r0 to r15, fp0 to fp15, mask, pc.
	s390Perf = RegisterSet{Width: 8, PC: 33, Columns: []uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31, 64, 65,
	}}
	s390Assembler = Assembler{Comment: "#", Prefix: "%", Named: 16, Numbered: 16}
	s390Code      = instructions{call: s390Call}
)

// s390Call: z/Architecture Principles of Operation, "General Instructions": bras, brasl, basr and
// bas with r14 as the link register.
func s390Call(_ *Machine, code []byte, returns uint64) (Call, bool) {
	if b := tail(code, 6); b != nil && b[0] == 0xc0 && b[1] == 0xe5 {
		return Call{returns - 6 + extend(binary.BigEndian.Uint32(b[2:]), 0, 32)<<1, true}, true
	}
	if b := tail(code, 4); b != nil && b[0] == 0xa7 && b[1] == 0xe5 {
		return Call{returns - 4 + extend(uint32(binary.BigEndian.Uint16(b[2:])), 0, 16)<<1, true}, true
	}
	if b := tail(code, 4); b != nil && b[0] == 0x4d && b[1]>>4 == 14 {
		return Call{}, true
	}
	b := tail(code, 2)
	return Call{}, b != nil && b[0] == 0x0d && b[1]>>4 == 14 && b[1]&15 != 0
}

const s390Relocations = "0:none 1:abs8 3:abs16 4:abs32 5:rel32 16:rel16 22:abs64 23:rel64"
