// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Column numbers: "DWARF for the LoongArch Architecture". Names and preserved
// registers: LoongArch psABI, "Register convention".

var loongRows = []row{
	loongRow("loong64", elf.ELFCLASS64),
	loongRow("loong32", elf.ELFCLASS32),
}

func loongRow(name string, class elf.Class) row {
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
		saved: []span{{2, 3}, {21, 31}, {56, 63}},
	}
}
