// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Column numbers are gcc's; no psABI gives them. Names and preserved
// registers: MIPS psABI supplement (o32) and "MIPSpro N32 ABI Handbook", which
// is for n64 as well.

const (
	mipsTail  = " s[0-7] t8 t9 k0 k1 gp sp fp ra f[0-31] hi lo"
	mipsO32   = "zero at v0 v1 a[0-3] t[0-7]" + mipsTail
	mipsN64   = "zero at v0 v1 a[0-7] t[0-3]" + mipsTail
	mipsAlias = "s8"
)

var mipsRows = []row{
	{
		name: "mips64", machine: elf.EM_MIPS, class: elf.ELFCLASS64, data: elf.ELFDATA2MSB,
		code: 1, factor: -4, sp: 29, fp: 30, ra: 31, modeBits: 1,
		names: []run{{0, mipsN64}}, aliases: []run{{30, mipsAlias}},
		// s0 to s7, gp, sp, fp, f24 to f31.
		saved:       []span{{16, 23}, {28, 30}, {56, 63}},
		description: &mips64Linux, instructions: &mipsCode,
	},
	{
		name: "mips", machine: elf.EM_MIPS, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 1, factor: -4, sp: 29, fp: 30, ra: 31, modeBits: 1,
		names: []run{{0, mipsO32}}, aliases: []run{{30, mipsAlias}},
		// s0 to s7, sp, fp, f20 to f31. The caller restores gp itself.
		saved:       []span{{16, 23}, {29, 30}, {52, 63}},
		description: &mipsLinux, instructions: &mipsCode,
	},
	{
		name: "mipsn32", machine: elf.EM_MIPS, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		flags: true, registerSize: 8,
		code: 1, factor: -4, sp: 29, fp: 30, ra: 31, modeBits: 1,
		names: []run{{0, mipsN64}}, aliases: []run{{30, mipsAlias}},
		// s0 to s7, gp, sp, fp, the even ones of f20 to f30.
		saved:       []span{{16, 23}, {28, 30}, {52, 52}, {54, 54}, {56, 56}, {58, 58}, {60, 60}, {62, 62}},
		description: &mipsn32Linux, instructions: &mipsCode,
	},
}

// mipsSignals: arch/mips/include/uapi/asm/signal.h.
const mipsSignals = `0 SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGEMT SIGFPE SIGKILL SIGBUS
	SIGSEGV SIGSYS SIGPIPE SIGALRM SIGTERM SIGUSR1 SIGUSR2 SIGCHLD SIGPWR SIGWINCH SIGURG SIGIO
	SIGSTOP SIGTSTP SIGCONT SIGTTIN SIGTTOU SIGVTALRM SIGPROF SIGXCPU SIGXFSZ`

// The vDSO's rules for signal trampolines omit the registers.

var (
	mips64Linux = Description{
		General: &mips64General, Perf: &pcFirst, Go: &Go{ArgumentsOffset: 8},
		Uname: "mips64", Compatible: elf.EM_MIPS,
		Signals: mipsSignals, SignalCodeFirst: true, IndirectDebug: true, Relocations: mipsRelocations, Assembler: &mipsAssembler,
		SignalFrames: []SignalFrame{
			// li v0,__NR_rt_sigreturn; syscall. As on o32, but the sigcontext is at 40 and
			// starts with the registers, and has the pc after the floating-point ones, hi
			// and lo.
			{Code: "\x5b\x14\x02\x24\x0c\x00\x00\x00", Context: 24 + 128 + 40, Columns: pcNumbers[1:], PC: 72 * 8},
		},
		ProbeSignalFrames: true, LongAdvances: true, C: CABI{OwnErrnos: true},
		// Three relocations in one; data needs the first (64-bit ELF Object File
		// Specification 2.9).
		ELFABI: ELFABI{ShortTypes: true},
	}
	mipsLinux = Description{
		General: &RegisterSet{Width: 4, PC: 40, Columns: mipsGeneral[:]},
		Perf:    &pcFirst, Go: &Go{ArgumentsOffset: 4},
		Uname:   "mips",
		Signals: mipsSignals, SignalCodeFirst: true, IndirectDebug: true, Relocations: mipsRelocations, Assembler: &mipsAssembler,
		SignalFrames: []SignalFrame{
			// li v0,__NR_sigreturn; syscall. 24 bytes, then struct sigcontext, with eight
			// bytes for the pc and each register: arch/mips/kernel/signal.c, struct sigframe,
			// and arch/mips/include/uapi/asm/sigcontext.h.
			{Code: "\x17\x10\x02\x24\x0c\x00\x00\x00", Context: 24 + 8, Columns: pcNumbers[:], Width: 8},
			// li v0,__NR_rt_sigreturn; syscall. siginfo, struct ucontext with its sigcontext
			// at 24: struct rt_sigframe.
			{Code: "\x61\x10\x02\x24\x0c\x00\x00\x00", Context: 24 + 128 + 24 + 8, Columns: pcNumbers[:], Width: 8},
		},
		ProbeSignalFrames: true, LongAdvances: true, C: CABI{OwnErrnos: true},
	}
	// n32 has the registers of n64, but short pointers.
	mipsn32Linux = Description{
		General: &mips64General, Perf: &pcFirst,
		Signals: mipsSignals, SignalCodeFirst: true, IndirectDebug: true, Relocations: mipsRelocations, Assembler: &mipsAssembler,
		SignalFrames: []SignalFrame{
			{Code: "\x43\x18\x02\x24\x0c\x00\x00\x00", Context: 24 + 128 + 24, Columns: pcNumbers[1:], PC: 72 * 8},
		},
		ProbeSignalFrames: true, LongAdvances: true, C: CABI{OwnErrnos: true},
	}
	// arch/mips/include/asm/elf.h and uapi/asm/reg.h, 45 registers of o32: six words
	// that are not used, r0 to r31, lo, hi, epc, badvaddr, status, cause. Columns are
	// gcc's: hi before lo.
	mipsGeneral = [...]uint8{
		NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		65, 64, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
	}
	// The same for n64 and n32, with the unused words at the end.
	mips64General = RegisterSet{Width: 8, PC: 34, Columns: []uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		65, 64, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
		NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
	}}
	mipsAssembler = Assembler{Comment: "#", Prefix: "$", Named: 32}
	mipsCode      = instructions{call: mipsCall, dataOrder: true}
)

// mipsCall: MIPS32 and MIPS64 instruction sets: jal, bal, jalr with ra as the link register. A
// delay slot is between the call and the return address.
func mipsCall(m *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(m.Order, code, 8)
	switch {
	case op>>26 == 3: // jal: within 256 MiB of the delay slot
		return Call{(returns-4)&^0xfffffff | uint64(op&0x3ffffff)<<2, true}, true
	case op&0xffff0000 == 0x04110000: // bal
		return Call{returns - 4 + extend(op, 0, 16)<<2, true}, true
	case op&0xfc1ff83f == 0x0000f809: // jalr
		return Call{}, true
	}
	return Call{}, false
}

const mipsRelocations = "0:none 1:abs16 2:abs32 18:abs64 248:rel32"
