// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Column numbers: psABI amd64 figure 3.36, psABI i386 table 2.14, psABI for
// the Intel MCU. Preserved registers: psABI amd64 figure 3.4, i386 table 2.3.

var (
	amd64Readelf = []run{
		{0, "rax rdx rcx rbx rsi rdi rbp rsp r[8-15] rip"},
		{17, "xmm[0-15] st[0-7] mm[0-7]"},
		{49, "rflags es cs ss ds fs gs"},
		{58, "fs.base gs.base"},
		{62, "tr ldtr mxcsr fcw fsw xmm[16-31]"},
		{118, "k[0-7]"},
	}
	// The extended registers of APX have numbers readelf 2.40 does not know.
	amd64Names   = []run{{130, "r[16-31]"}}
	amd64Aliases = []run{{16, "pc"}, {49, "eflags"}, {58, "fs_base gs_base"}}
	// rbx, rbp, rsp, r12 to r15.
	amd64Saved = []span{{3, 3}, {6, 7}, {12, 15}}

	// The Intel MCU has neither x87 nor SSE.
	iamcuReadelf = []run{
		{0, "eax ecx edx ebx esp ebp esi edi eip eflags"},
		{40, "es cs ss ds fs gs"},
		{48, "tr ldtr"},
	}
	i386Readelf = []run{
		{0, "eax ecx edx ebx esp ebp esi edi eip eflags"},
		{11, "st[0-7]"},
		{21, "xmm[0-7] mm[0-7] fcw fsw mxcsr"},
		{40, "es cs ss ds fs gs"},
		{48, "tr ldtr"},
		{93, "k[0-7]"},
	}
	i386Aliases = []run{{8, "pc"}}
	// ebx, esp, ebp, esi, edi.
	i386Saved = []span{{3, 7}}
)

var x86Rows = []row{
	amd64Row("x86-64", elf.EM_X86_64, elf.ELFCLASS64),
	amd64Row("x32", elf.EM_X86_64, elf.ELFCLASS32),
	amd64Row("l1om", elf.EM_L10M, elf.ELFCLASS64),
	amd64Row("k1om", elf.EM_K10M, elf.ELFCLASS64),
	{
		name: "i386", machine: elf.EM_386, class: elf.ELFCLASS32, data: elf.ELFDATA2LSB,
		code: 1, factor: -4, sp: 4, fp: 5, ra: 8, pc: 8,
		aliases: i386Aliases, saved: i386Saved,
		readelf: i386Readelf, readelfLimit: 101,
	},
	{
		name: "iamcu", machine: emIAMCU, class: elf.ELFCLASS32, data: elf.ELFDATA2LSB,
		code: 1, factor: -4, sp: 4, fp: 5, ra: 8, pc: 8,
		aliases: i386Aliases, saved: i386Saved,
		readelf: iamcuReadelf, readelfLimit: 101,
	},
}

// emIAMCU is EM_IAMCU, which debug/elf knows by the name it had before.
const emIAMCU = elf.EM_486

func amd64Row(name string, machine elf.Machine, class elf.Class) row {
	return row{
		name: name, machine: machine, class: class, data: elf.ELFDATA2LSB,
		registerSize: 8,
		code:         1, factor: -8, sp: 7, fp: 6, ra: 16, pc: 16,
		names: amd64Names, aliases: amd64Aliases, saved: amd64Saved,
		readelf: amd64Readelf, readelfLimit: 126,
	}
}
