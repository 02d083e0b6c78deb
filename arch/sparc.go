// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Column numbers: gcc and gas, without f32 and above, on which LLVM differs. A callee gets its
// own window, so it preserves the local and in registers and the stack pointer. g6 and g7 belong
// to the system (SPARC Compliance Definition 2.4, chapter 3).

var (
	sparcNames = []run{{0, "g[0-7] o[0-5] sp o7 l[0-7] i[0-5] fp i7 f[0-31]"}}
	sparcSaved = []span{{6, 7}, {14, 14}, {16, 31}}
)

var sparcRows = []row{
	{
		name: "sparc64", machine: elf.EM_SPARCV9, class: elf.ELFCLASS64, data: elf.ELFDATA2MSB,
		code: 4, factor: -8, sp: 14, fp: 30, ra: 15, returnOffset: 8, cfaOffset: 2047,
		names: sparcNames, aliases: sparcAliases, saved: sparcSaved,
		description: &sparc64, instructions: &sparcCode,
	},
	sparc32Row("sparc", elf.EM_SPARC),
	sparc32Row("sparc32plus", elf.EM_SPARC32PLUS),
}

var sparcAliases = []run{{14, "o6"}, {30, "i6"}}

func sparc32Row(name string, machine elf.Machine) row {
	return row{
		name: name, machine: machine, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 4, factor: -4, sp: 14, fp: 30, ra: 15, returnOffset: 8,
		names: sparcNames, aliases: sparcAliases, saved: sparcSaved,
		description: &sparc, instructions: &sparcCode,
	}
}

// sparcSignals: arch/sparc/include/uapi/asm/signal.h.
const sparcSignals = `0 SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGEMT SIGFPE SIGKILL SIGBUS
	SIGSEGV SIGSYS SIGPIPE SIGALRM SIGTERM SIGURG SIGSTOP SIGTSTP SIGCONT SIGCHLD SIGTTIN SIGTTOU
	SIGIO SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGLOST SIGUSR1 SIGUSR2`

var (
	sparc64 = Description{
		// arch/sparc/include/asm/elf_64.h, ELF_NGREG: g0 to g7, o0 to o7, l0 to l7, i0
		// to i7, tstate, tpc, tnpc, y.
		General: &RegisterSet{Width: 8, PC: 33, Columns: sparcGeneral[:36]},
		Uname:   "sparc64", Signals: sparcSignals, Relocations: sparcRelocations, Assembler: &sparcAssembler,
		SignalFrames: []SignalFrame{
			// mov __NR_rt_sigreturn,%g1; ta 0x6d. Above the bias the interrupted register
			// window, 64 bytes, siginfo, pt_regs: arch/sparc/kernel/signal_64.c, struct
			// rt_signal_frame.
			{Code: "\x82\x10\x20\x65\x91\xd0\x20\x6d", Context: 2047, PC: 128 + 64 + 128 + 17*8,
				// l0 to l7, i0 to i7; eight words of the caller's and 16 of siginfo; g0 to
				// g7, o0 to o7.
				Columns: []uint8{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
					NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
					NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
					NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
					0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		},
		// By its symbols, the C library's trampoline is the end of the previous function.
		ProbeSignalFrames: true,
		RegisterWindows:   true, C: CABI{OwnErrnos: true},
		ELFABI: ELFABI{ShortTypes: true}, // the bytes between are data of R_SPARC_OLO10
	}
	sparc = Description{
		// arch/sparc/include/asm/elf_32.h: the same with psr, pc, npc, y, wim, tbr.
		General: &RegisterSet{Width: 4, PC: 33, Columns: sparcGeneral[:]},
		Signals: sparcSignals, Relocations: sparcRelocations, Assembler: &sparcAssembler,
		RegisterWindows: true, C: CABI{OwnErrnos: true},
	}
	sparcGeneral = [...]uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		NoColumn, NoColumn, NoColumn, NoColumn, NoColumn, NoColumn,
	}
	sparcAssembler = Assembler{Comment: "!", Prefix: "%", Named: 64}
	sparcCode      = instructions{restoresWindow: func(op uint32) bool { return op&0xfff80000 == 0x81c80000 }} // return
)

const sparcRelocations = "0:none 1:abs8 2:abs16 3:abs32 4:rel8 5:rel16 6:rel32 23:abs32 32:abs64 46:rel64 54:abs64 " +
	"55:abs16"
