// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Column numbers: Arm ABI documents AADWARF64 and AADWARF32, "DWARF register
// names". Preserved registers: AAPCS64 §6.1, AAPCS32 §6.1.

var (
	arm64Readelf = []run{
		{0, "x[0-30] sp"},
		{33, "elr"},
		{46, "vg ffr p[0-15] v[0-31] z[0-31]"},
	}
	// AADWARF64 has these, readelf 2.40 has not.
	arm64Names = []run{
		{32, "pc"},
		{34, "ra_sign_state"},
	}
	armNames = []run{
		{0, "r[0-12] sp lr pc"},
		{64, "s[0-31]"},  // obsolescent: single-precision VFP
		{256, "d[0-31]"}, // VFP and Advanced SIMD
	}
)

var armRows = []row{
	arm64Row("arm64", elf.ELFCLASS64),
	arm64Row("arm64ilp32", elf.ELFCLASS32),
	{
		// gas writes these factors; LLVM writes 1 for the code's.
		name: "arm", machine: elf.EM_ARM, class: elf.ELFCLASS32, data: elf.ELFDATA2LSB,
		code: 2, factor: -4, sp: 13, fp: 11, ra: 14, pc: 15, modeBits: 1,
		names:   armNames,
		aliases: []run{{13, "r[13-15]"}, {11, "fp ip"}},
		// r4 to r11, sp, s16 to s31, which are d8 to d15.
		saved: []span{{4, 11}, {13, 13}, {80, 95}, {264, 271}},
	},
}

func arm64Row(name string, class elf.Class) row {
	return row{
		name: name, machine: elf.EM_AARCH64, class: class, data: elf.ELFDATA2LSB,
		registerSize: 8,
		code:         4, factor: -8, sp: 31, fp: 29, ra: 30, pc: 32,
		names: arm64Names,
		// Assemblers write a rule for column 72 as one for d8.
		aliases: []run{{29, "fp lr"}, {64, "d[0-31]"}},
		// x19 to x28, fp, sp, the low halves of v8 to v15.
		saved:   []span{{19, 29}, {31, 31}, {72, 79}},
		readelf: arm64Readelf, readelfLimit: 128,
	}
}
