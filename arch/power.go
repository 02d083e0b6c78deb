// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Column numbers are those of .eh_frame, which GNU and LLVM compilers use in
// .debug_frame too: OpenPOWER 64-bit ELFv2 ABI §2.4, "DWARF definition". (The
// 32-bit psABI's own list, with lr = 108, is for variables.) Preserved
// registers: ELFv2 ABI §2.2.1; PowerPC psABI supplement, "Registers".

var powerNames = []run{
	{0, "r[0-31] f[0-31]"},
	{65, "lr ctr"},
	{68, "cr[0-7] xer v[0-31] vrsave vscr"},
}

// r1, r14 to r31, f14 to f31, cr2 to cr4, v20 to v31. r13 is the thread pointer of the 64-bit
// ABIs. The 32-bit one reserves it for the small data area, and gcc preserves it in other uses
// too.
var powerSaved = []span{{1, 1}, {13, 31}, {46, 63}, {70, 72}, {97, 108}}

var powerRows = []row{
	{
		name: "ppc64", machine: elf.EM_PPC64, class: elf.ELFCLASS64, data: elf.ELFDATA2MSB,
		code: 4, factor: -8, sp: 1, fp: -1, ra: 65,
		names: powerNames, aliases: []run{{77, "vr[0-31]"}}, saved: powerSaved,
		description: &ppc64, instructions: &powerCode,
	},
	{
		name: "ppc", machine: elf.EM_PPC, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 4, factor: -4, sp: 1, fp: -1, ra: 65,
		names: powerNames, aliases: []run{{77, "vr[0-31]"}},
		// Here r2 is the thread pointer.
		saved:       []span{{1, 2}, {13, 31}, {46, 63}, {70, 72}, {97, 108}},
		description: &ppc, instructions: &powerCode,
	},
}

// Back chains: OpenPOWER ELFv2 ABI §2.2.2.1 and PowerPC psABI, "The Stack Frame". A function
// saves its link register in its caller's frame.

var (
	ppc64 = Description{
		Relocations: "0:none 1:abs32 3:abs16 24:abs32 25:abs16 26:rel32 38:abs64 43:abs64 44:rel64",
		Relative:    22, UnwindColumns: 66, // with lr
		Go:        &Go{Arch: "ppc64", ArgumentsOffset: 32, G: 30},
		Assembler: &powerAssembler,
		General:   &RegisterSet{Width: 8, PC: 32, Columns: powerGeneral[:]},
		Perf:      &powerPerf,
		Uname:     "ppc64 ppc64le", Compatible: elf.EM_PPC,
		SignalFrames: []SignalFrame{
			// addi r1,r1,__SIGNAL_FRAMESIZE; li r0,__NR_rt_sigreturn; sc. struct
			// ucontext at 128, in it the sigcontext at 168, in that gp_regs at 64:
			// arch/powerpc/kernel/signal_64.c.
			{Code: "\x80\x00\x21\x38\xac\x00\x00\x38\x02\x00\x00\x44", Context: 128 + 168 + 64, Columns: powerGeneral[:39], PC: 32 * 8},
			// qemu-user's lacks the addition, and has 16 bytes more in between.
			{Code: "\xac\x00\x00\x38\x02\x00\x00\x44", Context: 128 + 16 + 168 + 64, Columns: powerGeneral[:39], PC: 32 * 8},
		},
		BackChain:      &BackChain{ReturnAddress: 16, Always: true},
		FloatRegisters: &powerFloats,
		C: CABI{CharUnsigned: true, LongDouble: DoubleDouble, PackedDecimals: true,
			RestoresAfterCall: true}, // r2
		// ELFv1 has descriptors, ELFv2 local entries (OpenPOWER ELFv2 ABI §2.3.2.1).
		ELFABI: ELFABI{Descriptors: true, LocalEntry: 8},
	}
	ppc = Description{
		Relocations: "0:none 1:abs32 3:abs16 24:abs32 25:abs16 26:rel32",
		Assembler:   &powerAssembler,
		General:     &RegisterSet{Width: 4, PC: 32, Columns: powerGeneral[:]},
		Perf:        &powerPerf,
		Uname:       "ppc ppcle",
		SignalFrames: []SignalFrame{
			// li r0,__NR_sigreturn; sc. The caller's 64 bytes, then struct sigcontext of
			// 32 and mcontext, which starts with gp_regs: arch/powerpc/kernel/signal_32.c.
			{Code: "\x77\x00\x00\x38\x02\x00\x00\x44", Context: 64 + 32, Columns: powerGeneral[:39], PC: 32 * 4},
			// li r0,__NR_rt_sigreturn; sc. 16 bytes more, siginfo, struct ucontext with its
			// mcontext at 192.
			{Code: "\xac\x00\x00\x38\x02\x00\x00\x44", Context: 64 + 16 + 128 + 192, Columns: powerGeneral[:39], PC: 32 * 4},
		},
		// Kernels without a vDSO have them on the stack.
		ProbeSignalFrames: true,
		BackChain:         &BackChain{ReturnAddress: 4, Always: true},
		FloatRegisters:    &powerFloats,
		C:                 CABI{CharUnsigned: true, LongDouble: DoubleDouble, PackedDecimals: true},
	}
	powerFloats    = FloatRegisters{First: 32, Last: 63, Size: 8, Doubles: true} // Power ISA §4.3.1
	powerAssembler = Assembler{Comment: "#", Named: 128, Numbered: 32}
	powerPerf      = RegisterSet{Width: 8, PC: 32, Columns: powerGeneral[:38]}
	// arch/powerpc/include/uapi/asm/ptrace.h and elf.h, ELF_NGREG of struct pt_regs:
	// r0 to r31, nip, msr, orig_r3, ctr, link, xer, ccr, softe (of 32 bits mq), trap,
	// dar, dsisr, result, dscr, and three that are not used. In rules for a saved condition
	// register, compilers use the column of cr2. Signal contexts start with the same words,
	// and perf has the numbers up to xer.
	powerGeneral = [...]uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		NoColumn, NoColumn, NoColumn, 66, 65, 76, 70, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
		NoColumn, NoColumn, NoColumn, NoColumn,
	}
	powerCode = instructions{call: powerCall, changesSP: powerChangesSP, dataOrder: true}
)

// powerCall: Power ISA Book I §2.4: branches that set the link register.
func powerCall(m *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(m.Order, code, 4)
	switch {
	case op&0xfc000003 == 0x48000001: // bl
		return Call{returns - 4 + extend(op&0x3fffffc, 0, 26), true}, true
	case op&0xfc0007ff == 0x4c000421, op&0xfc0007ff == 0x4c000021: // bctrl, blrl
		return Call{}, true
	}
	return Call{}, false
}

// powerChangesSP: Power ISA Book I, the instructions of functions that can write r1, by their
// primary opcode. It is also true for some instructions that only read r1.
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
