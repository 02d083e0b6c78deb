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

// r1, r14 to r31, f14 to f31, cr2 to cr4, v20 to v31. r13 is the thread
// pointer of the 64-bit ABIs; the 32-bit one keeps it for the small data area,
// and what gcc makes of it otherwise is preserved too.
var powerSaved = []span{{1, 1}, {13, 31}, {46, 63}, {70, 72}, {97, 108}}

var powerRows = []row{
	{
		name: "ppc64", machine: elf.EM_PPC64, class: elf.ELFCLASS64, data: elf.ELFDATA2MSB,
		code: 4, factor: -8, sp: 1, fp: -1, ra: 65,
		names: powerNames, aliases: []run{{77, "vr[0-31]"}}, saved: powerSaved,
	},
	{
		name: "ppc", machine: elf.EM_PPC, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 4, factor: -4, sp: 1, fp: -1, ra: 65,
		names: powerNames, aliases: []run{{77, "vr[0-31]"}},
		// Here r2 is the thread pointer.
		saved: []span{{1, 2}, {13, 31}, {46, 63}, {70, 72}, {97, 108}},
	},
}
