// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source_test

import (
	"debug/elf"
	"log"
	"os"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/source"
	"github.com/clewdev/clew/report/table"
)

// The .eh_frame of a function that pushes rbx, as directives.
func ExampleWrite() {
	section := &cfi.Section{
		Name:    ".eh_frame",
		Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
		Data: []byte("\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x03\x0c\x07\x08\x90\x01\x00\x00" +
			"\x18\x00\x00\x00\x1c\x00\x00\x00\x39\x11\x00\x00\x18\x00\x00\x00\x00" +
			"\x41\x0e\x10\x83\x02\x56\x0e\x08\x00\x00\x00"),
	}
	list, err := table.List([]*cfi.Section{section}, nil, table.Selection{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := source.Write(os.Stdout, source.Asm, "clew table", list, nil, nil); err != nil {
		log.Fatal(err)
	}
	// Output:
	// # Unwind tables of code (x86-64), printed by
	// # clew table --format=asm. A .skip stands for code of the function described here: put
	// # yours in its place. A directive holds from the instruction after it on.
	// 	.text
	//
	// # 0x1139: 0x18 bytes of code, .eh_frame FDE 0x18.
	// 	.type	f0x1139, %function
	// f0x1139:
	// 	.cfi_startproc
	// 	.skip	1	# +0x0
	// 	.cfi_def_cfa_offset 16
	// 	.cfi_offset %rbx, -16
	// 	.skip	22	# +0x1
	// 	.cfi_def_cfa_offset 8
	// 	.skip	1	# +0x17
	// 	.cfi_endproc
	// 	.size	f0x1139, .-f0x1139
}
