// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region_test

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/region"
)

func ExampleProcedure_Program() {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	const rbp, rsp = 6, 7

	// Procedures with the same prologue and epilogue share their regions.
	epilogue := &region.Region{
		Count: -2,                                  // pop rbp; ret
		Ops:   []region.Op{region.PopFrames(0, 1)}, // by the pop
	}
	prologue := &region.Region{
		Count: 4,
		Ops: []region.Op{
			region.Add(0, rsp, -8), region.SpillSPRel(0, rbp, 0), // push rbp
			region.SaveReg(region.After(m, 4), rsp, rbp), // mov rbp, rsp
		},
		Next: epilogue,
	}

	for _, size := range []uint64{16, 4096} {
		p := &region.Procedure{End: size, Regions: prologue}
		program, err := p.Program(m)
		if err != nil {
			fmt.Println(err)
			return
		}

		e := cfi.Encoder{Machine: m}
		if err := e.Program(program, 0x400000, size); err != nil {
			fmt.Println(err)
			return
		}
		var x cfi.Interpreter
		s := &cfi.Section{Data: e.Data, Machine: m}
		for entry := range s.Entries() {
			if entry.FDE == nil {
				continue
			}
			for row := range x.Rows(entry.FDE) {
				fmt.Printf("%#x CFA=%s%+d\n", row.Start, m.RegisterName(uint64(row.CFA.Register)), row.CFA.Offset)
			}
		}
	}
	// Output:
	// 0x400000 CFA=rsp+8
	// 0x400001 CFA=rsp+16
	// 0x400004 CFA=rbp+16
	// 0x40000f CFA=rsp+8
	// 0x400000 CFA=rsp+8
	// 0x400001 CFA=rsp+16
	// 0x400004 CFA=rbp+16
	// 0x400fff CFA=rsp+8
}
