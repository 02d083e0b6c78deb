// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Machines Debian's ports hold libraries of. Column numbers are gcc's, and
// only the registers gcc and gdb agree on have a name.

var otherRows = []row{
	{
		// The stack grows upwards, hence the positive factor.
		name: "hppa", machine: elf.EM_PARISC, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 4, factor: 4, sp: 30, fp: -1, ra: 2, modeBits: 3,
		names:   []run{{0, "r0 r1 rp r[3-26] dp ret0 ret1 sp r31"}},
		aliases: []run{{2, "r2"}, {27, "r[27-30]"}},
		// r3 to r18, dp, sp, fr12 to fr21 (each has two columns, from 32 for fr4).
		saved: []span{{3, 18}, {27, 27}, {30, 30}, {48, 67}},
	},
	{
		name: "m68k", machine: elf.EM_68K, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 2, factor: -4, sp: 15, fp: 14, ra: 24, pc: 24,
		names:   []run{{0, "d[0-7] a[0-5] fp sp fp[0-7] pc"}},
		aliases: []run{{14, "a[6-7]"}},
		// d2 to d7, a2 to a5, fp, sp, fp2 to fp7.
		saved: []span{{2, 7}, {10, 15}, {18, 23}},
	},
	{
		name: "sh4", machine: elf.EM_SH, class: elf.ELFCLASS32, data: elf.ELFDATA2LSB,
		code: 2, factor: -4, sp: 15, fp: 14, ra: 17,
		names: []run{{0, "r[0-15]"}, {17, "pr"}, {25, "fr[0-15]"}},
		// r8 to r15, fr12 to fr15.
		saved: []span{{8, 15}, {37, 40}},
	},
	{
		name: "alpha", machine: elf.EM_ALPHA, class: elf.ELFCLASS64, data: elf.ELFDATA2LSB,
		code: 4, factor: -8, sp: 30, fp: 15, ra: 26,
		names: []run{{0, "v0 t[0-7] s[0-5] fp a[0-5] t[8-11] ra t12 at gp sp zero f[0-31]"}},
		// s0 to s5, fp, sp, f2 to f9.
		saved: []span{{9, 15}, {30, 30}, {34, 41}},
	},
}
