// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Column numbers: RISC-V psABI, "DWARF register numbers". Preserved
// registers: the same, "Register convention".

var riscvReadelf = []run{
	{0, "zero ra sp gp tp t[0-2] s0 s1 a[0-7] s[2-11] t[3-6]"},
	{32, "ft[0-7] fs0 fs1 fa[0-7] fs[2-11] ft[8-11]"},
	{96, "v[0-31]"},
}

var riscvRows = []row{
	riscvRow("riscv64", elf.ELFCLASS64),
	riscvRow("riscv32", elf.ELFCLASS32),
}

func riscvRow(name string, class elf.Class) row {
	return row{
		name: name, machine: elf.EM_RISCV, class: class, data: elf.ELFDATA2LSB,
		// gas writes -4 with 64-bit registers too; LLVM writes -8 there.
		code: 1, factor: -4, sp: 2, fp: 8, ra: 1,
		aliases: []run{{0, "x[0-31] f[0-31]"}, {8, "fp"}},
		// sp, gp and tp (nobody may change those), s0 to s11, fs0 to fs11.
		saved:   []span{{2, 4}, {8, 9}, {18, 27}, {40, 41}, {50, 59}},
		readelf: riscvReadelf, readelfLimit: 8192,
		csr: true,
	}
}
