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
		saved: []span{{16, 23}, {28, 30}, {56, 63}},
	},
	{
		name: "mips", machine: elf.EM_MIPS, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 1, factor: -4, sp: 29, fp: 30, ra: 31, modeBits: 1,
		names: []run{{0, mipsO32}}, aliases: []run{{30, mipsAlias}},
		// s0 to s7, sp, fp, f20 to f31. The caller restores gp itself.
		saved: []span{{16, 23}, {29, 30}, {52, 63}},
	},
	{
		name: "mipsn32", machine: elf.EM_MIPS, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		flags: true, registerSize: 8,
		code: 1, factor: -4, sp: 29, fp: 30, ra: 31, modeBits: 1,
		names: []run{{0, mipsN64}}, aliases: []run{{30, mipsAlias}},
		// s0 to s7, gp, sp, fp, the even ones of f20 to f30.
		saved: []span{{16, 23}, {28, 30}, {52, 52}, {54, 54}, {56, 56}, {58, 58}, {60, 60}, {62, 62}},
	},
}
