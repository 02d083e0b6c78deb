// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Column numbers: "DWARF for the LoongArch Architecture". Names and preserved
// registers: LoongArch psABI, "Register convention".

var loongRows = []row{
	loongRow("loong64", elf.ELFCLASS64, &loong64),
	loongRow("loong32", elf.ELFCLASS32, &loong32),
}

func loongRow(name string, class elf.Class, d *Description) row {
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
		saved:       []span{{2, 3}, {21, 31}, {56, 63}},
		description: d, instructions: &loongCode,
	}
}

var (
	loong64 = Description{
		Perf: &pcFirst, Uname: "loongarch64", Compatible: elf.EM_LOONGARCH,
		FrameRecord: &recordBelow,
	}
	loong32 = Description{Perf: &pcFirst, Uname: "loongarch32", FrameRecord: &recordBelow}

	loongCode = instructions{
		unit: 4, call: loongCall,
		setsFramePointer: func(code []byte) (int64, bool) { // addi.d fp, sp, imm; addi.w
			op := firstWord(code)
			return int64(extend(op, 10, 12)), op&0xffc003ff == 0x02c00076 || op&0xffc003ff == 0x02800076
		},
	}
)

// loongCall: LoongArch Reference Manual volume 1 §2.2.5: bl, and jirl with ra as
// the register of the link, after pcaddu18i where the target is far.
func loongCall(_ *Machine, code []byte, returns uint64) (Call, bool) {
	op := word(binary.LittleEndian, code, 4)
	switch {
	case op>>26 == 0x15: // bl
		return Call{returns - 4 + extend(op&0x3ff<<16|op>>10&0xffff, 0, 26)<<2, true}, true
	case op>>26 == 0x13 && op&31 == 1: // jirl ra
		if high := word(binary.LittleEndian, code, 8); high>>25 == 0x0f && high&31 == op>>5&31 { // pcaddu18i
			return Call{returns - 8 + extend(high, 5, 20)<<18 + extend(op, 10, 16)<<2, true}, true
		}
		return Call{}, true
	}
	return Call{}, false
}
