// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package table_test

import (
	"debug/elf"
	"fmt"
	"log"
	"os"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/report/table"
)

// exampleSection is the .eh_frame of one function that pushes rbx.
func exampleSection() *cfi.Section {
	return &cfi.Section{
		Name:    ".eh_frame",
		Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
		Data: []byte("\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x03\x0c\x07\x08\x90\x01\x00\x00" +
			"\x18\x00\x00\x00\x1c\x00\x00\x00\x39\x11\x00\x00\x18\x00\x00\x00\x00" +
			"\x41\x0e\x10\x83\x02\x56\x0e\x08\x00\x00\x00"),
	}
}

func ExampleText() {
	list, err := table.List([]*cfi.Section{exampleSection()}, nil, table.Selection{})
	if err != nil {
		log.Fatal(err)
	}
	printer := func() table.Printer { return &table.Text{} }
	if _, err := list.Write(os.Stdout, printer, nil); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0x1139  0x1139-0x1151  .eh_frame FDE 0x18 CIE 0x0
	//   address  offset  CFA     rbx     ra
	//   0x1139   +0x0    rsp+8   .       [c-8]
	//   0x113a   +0x1    rsp+16  [c-16]  [c-8]
	//   0x1150   +0x17   rsp+8   [c-16]  [c-8]
}

func ExampleExplain() {
	var fde cfi.FDE
	if err := exampleSection().FDEAt(0x18, &fde); err != nil {
		log.Fatal(err)
	}
	e, err := table.Explain(table.Function{FDE: &fde, Symbol: "f"}, 0x1140)
	if err != nil {
		log.Fatal(err)
	}
	if err := e.Words(os.Stdout, style.Palette{}, 0); err != nil {
		log.Fatal(err)
	}
	fmt.Println()
	if err := e.Drawing(os.Stdout, style.Palette{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0x1140 is in f+0x7, row 2 of 3 (0x113a-0x1150) of the FDE at .eh_frame+0x18
	//
	//   the CFA is rsp+16 (DW_CFA_def_cfa_offset at .eh_frame+0x2a of the FDE at .eh_frame+0x18)
	//   the return address is saved at CFA-8 (DW_CFA_offset at .eh_frame+0x14 of the CIE at .eh_frame+0x0)
	//   rbx is saved at CFA-16 (DW_CFA_offset at .eh_frame+0x2c of the FDE at .eh_frame+0x18)
	//   rsp in the caller is the CFA (no rule: by the definition of the CFA)
	//   rbp and r12 to r15 have no rule: unchanged, if the function follows the ABI of x86-64
	//
	//           │ the caller's frame │
	//      CFA  ├────────────────────┤ rsp+16  <- rsp after the return
	//    CFA-8  │ return address     │ rsp+8
	//   CFA-16  │ rbx                │ rsp     <- rsp
	//           └────────────────────┘
}
