// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Column numbers: gcc and gas; f32 and above are left out, on which they and
// LLVM disagree. A callee gets its own window and so preserves the local and
// in registers and the stack pointer; g6 and g7 belong to the system (SPARC
// Compliance Definition 2.4, chapter 3).

var (
	sparcNames = []run{{0, "g[0-7] o[0-5] sp o7 l[0-7] i[0-5] fp i7 f[0-31]"}}
	sparcSaved = []span{{6, 7}, {14, 14}, {16, 31}}
)

var sparcRows = []row{
	{
		name: "sparc64", machine: elf.EM_SPARCV9, class: elf.ELFCLASS64, data: elf.ELFDATA2MSB,
		code: 4, factor: -8, sp: 14, fp: 30, ra: 15, returnOffset: 8, cfaOffset: 2047,
		names: sparcNames, aliases: sparcAliases, saved: sparcSaved,
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
	}
}
