// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import "debug/elf"

// Column numbers: "ELF Application Binary Interface s390x Supplement", table
// of DWARF registers. Floating-point and vector registers come in the order
// in which they pair up. Preserved registers: the same, "Register usage".

var (
	s390Readelf = []run{
		{16, "f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15"},
		{32, "cr[0-15] a[0-15] pswm pswa"},
		{68, "v16 v18 v20 v22 v17 v19 v21 v23 v24 v26 v28 v30 v25 v27 v29 v31"},
	}
	// readelf has no names for the general registers: it prints numbers,
	// which read the same.
	s390Names = []run{{0, "r[0-15]"}}
)

var s390Rows = []row{
	{
		name: "s390x", machine: elf.EM_S390, class: elf.ELFCLASS64, data: elf.ELFDATA2MSB,
		code: 1, factor: -8, sp: 15, fp: -1, ra: 14, cfaOffset: 160,
		names: s390Names,
		// r6 to r13, r15, f8 to f15, the thread pointer in a0 and a1.
		saved:   []span{{6, 13}, {15, 15}, {24, 31}, {48, 49}},
		readelf: s390Readelf, readelfLimit: 84,
	},
	{
		name: "s390", machine: elf.EM_S390, class: elf.ELFCLASS32, data: elf.ELFDATA2MSB,
		code: 1, factor: -4, sp: 15, fp: -1, ra: 14, cfaOffset: 96, modeBits: 1 << 31,
		names: s390Names,
		// r6 to r13, r15, f4 and f6, the thread pointer in a0.
		saved:   []span{{6, 13}, {15, 15}, {18, 19}, {48, 48}},
		readelf: s390Readelf, readelfLimit: 84,
	},
}
