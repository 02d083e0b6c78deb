// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf_test

import (
	"debug/elf"
	"fmt"
	"strings"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/readelf"
)

func ExampleSection() {
	s := &cfi.Section{
		Name:    ".eh_frame",
		Kind:    cfi.EHFrame,
		Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
		Address: 0x2000,
		Data: []byte{
			0x14, 0, 0, 0, 0, 0, 0, 0, // CIE
			1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
			0x0c, 7, 8, 0x90, 1, 0, 0,
			0x15, 0, 0, 0, 0x1c, 0, 0, 0, // FDE
			0xe0, 0xef, 0xff, 0xff, 0x10, 0, 0, 0, 0,
			0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6,
		},
	}
	var out strings.Builder
	if err := readelf.Section(&out, s, readelf.Raw); err != nil {
		fmt.Println(err)
	}
	_, entries, _ := strings.Cut(out.String(), ":\n\n\n") // the heading
	fmt.Print(entries)
	// Output:
	// 00000000 0000000000000014 00000000 CIE
	//   Version:               1
	//   Augmentation:          "zR"
	//   Code alignment factor: 1
	//   Data alignment factor: -8
	//   Return address column: 16
	//   Augmentation data:     1b
	//   DW_CFA_def_cfa: r7 (rsp) ofs 8
	//   DW_CFA_offset: r16 (rip) at cfa-8
	//   DW_CFA_nop
	//   DW_CFA_nop
	//
	// 00000018 0000000000000015 0000001c FDE cie=00000000 pc=0000000000001000..0000000000001010
	//   DW_CFA_advance_loc: 1 to 0000000000001001
	//   DW_CFA_def_cfa_offset: 16
	//   DW_CFA_offset: r6 (rbp) at cfa-16
	//   DW_CFA_advance_loc: 3 to 0000000000001004
	//   DW_CFA_def_cfa_register: r6 (rbp)
}
