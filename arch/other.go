// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Machines of Debian's ports. Column numbers are gcc's. Only the registers on which gcc and gdb
// agree have names.

var otherRows = []row{
	{
		// The stack grows upwards, hence the positive factor.
		name: "hppa", machine: elf.EM_PARISC, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 4, factor: 4, sp: 30, fp: -1, ra: 2, modeBits: 3,
		names:   []run{{0, "r0 r1 rp r[3-26] dp ret0 ret1 sp r31"}},
		aliases: []run{{2, "r2"}, {27, "r[27-30]"}},
		// r3 to r18, dp, sp, fr12 to fr21 (each has two columns, from 32 for fr4).
		saved: []span{{3, 18}, {27, 27}, {30, 30}, {48, 67}},
		description: &Description{
			Uname: "parisc parisc64", Signals: unknownSignals, C: CABI{OwnErrnos: true},
			Relocations: "0:none 1:abs32 9:after32 49:abs32 65:abs32 72:after64 80:abs64",
			Assembler:   &Assembler{Comment: ";", Prefix: "%", Named: 32, Numbered: 32, Unnamed: []uint64{27, 28, 29}},
		},
	},
	{
		name: "m68k", machine: elf.EM_68K, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 2, factor: -4, sp: 15, fp: 14, ra: 24, pc: 24,
		names:   []run{{0, "d[0-7] a[0-5] fp sp fp[0-7] pc"}},
		aliases: []run{{14, "a[6-7]"}},
		// d2 to d7, a2 to a5, fp, sp, fp2 to fp7.
		saved:       []span{{2, 7}, {10, 15}, {18, 23}},
		description: &m68k,
	},
	{
		name: "sh4", machine: elf.EM_SH, class: elf.ELFCLASS32, data: elf.ELFDATA2LSB,
		code: 2, factor: -4, sp: 15, fp: 14, ra: 17,
		names: []run{{0, "r[0-15]"}, {17, "pr"}, {25, "fr[0-15]"}},
		// r8 to r15, fr12 to fr15.
		saved: []span{{8, 15}, {37, 40}},
		description: &Description{
			Relocations: "0:none 1:abs32 2:rel32 33:abs16 34:abs8",
			Assembler:   &Assembler{Comment: "!", Named: 64, Numbered: 16},
			ELFABI:      ELFABI{InPlaceAddend: true},
		},
	},
	{
		name: "alpha", machine: elf.EM_ALPHA, class: elf.ELFCLASS64, data: elf.ELFDATA2LSB,
		code: 4, factor: -8, sp: 30, fp: 15, ra: 26,
		names: []run{{0, "v0 t[0-7] s[0-5] fp a[0-5] t[8-11] ra t12 at gp sp zero f[0-31]"}},
		// s0 to s5, fp, sp, f2 to f9.
		saved: []span{{9, 15}, {30, 30}, {34, 41}},
		description: &Description{
			Uname: "alpha", Signals: unknownSignals, Relocations: "0:none 1:abs32 2:abs64 10:rel32 11:rel64",
			C: CABI{OwnErrnos: true}, ELFABI: ELFABI{LongHash: true},
		},
	},
}

// describeUnlisted returns the facts about a machine without a row.
func describeUnlisted(machine elf.Machine) (d Description) {
	switch machine {
	case elf.EM_IA_64:
		d.Relocations = "0:none 36:abs32 37:abs32 38:abs64 39:abs64 76:rel32 77:rel32 78:rel64 79:rel64"
		d.Assembler = &Assembler{Comment: "//"}
	case elf.EM_XTENSA:
		d.Relocations = "0:none 1:abs32 14:rel32 17:add8 18:add16 19:add32"
	case elf.EM_MICROBLAZE:
		d.Relocations = "0:none 1:abs32 2:rel32"
	case elf.EM_OPENRISC:
		d.Relocations = "0:none 1:abs32 2:abs16 3:abs8 9:rel32"
	case elf.EM_ALTERA_NIOS2:
		d.Relocations = "0:none 20:abs32 21:abs16 22:abs8"
	}
	return d
}

var m68k = Description{
	Relocations: "0:none 1:abs32 2:abs16 3:abs8 4:rel32 5:rel16 6:rel8",
	Assembler:   &Assembler{Comment: "|", Prefix: "%", Named: 25, Unnamed: []uint64{14}},
	// arch/m68k/include/asm/elf.h, ELF_CORE_COPY_REGS: d1 to d7, a0 to a6, d0, usp,
	// orig_d0, sr, pc, the frame's format and vector. Nothing is aligned to more than two
	// bytes.
	General: &RegisterSet{Width: 4, Align: 2, PC: 18, Columns: []uint8{
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 15,
		NoColumn, NoColumn, 24, NoColumn,
	}},
	Uname: "m68k",
	SignalFrames: []SignalFrame{
		// moveq #__NR_sigreturn,%d0; trap #0. The return has popped the first word of struct
		// sigframe. The fourth one points to struct sigcontext, which starts with the mask.
		// The handler has preserved the registers that it lacks: arch/m68k/kernel/signal.c.
		// (qemu-user's lacks the code on the stack.)
		{Code: "\x70\x77\x4e\x40", Pointer: 8, Context: 4, Columns: []uint8{15, 0, 1, 8, 9}, PC: 22},
		// moveq #~__NR_rt_sigreturn,%d0; not.b %d0; trap #0. The fourth word of struct
		// rt_sigframe points to struct ucontext, with its registers at 24.
		{Code: "\x70\x52\x46\x00\x4e\x40", Pointer: 8, Context: 24, Columns: pcNumbers[1:17], PC: 16 * 4},
	},
	ProbeSignalFrames: true, // they are on the stack
	C:                 CABI{LongDouble: M68881, LongDoubleSize: 12, MaxAlign: 2},
}
