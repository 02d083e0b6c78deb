// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind_test

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit/libunwind"
	"github.com/clewdev/clew/region"
)

// exampleMemory is the memory of a program that has registered a procedure:
// bytes at 0x7000.
type exampleMemory []byte

func (m exampleMemory) ReadMemory(p []byte, addr uint64) error {
	if addr < 0x7000 || addr-0x7000 > uint64(len(m)) || copy(p, m[addr-0x7000:]) < len(p) {
		return fmt.Errorf("nothing at %#x", addr)
	}
	return nil
}

// Read reads the list of a program at the address that Find returns.
func ExampleRead() {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	e := libunwind.Encoder{Machine: m, Address: 0x7000}
	info, err := e.Info(&libunwind.Info{
		Start: 0x401000, End: 0x401020, Format: libunwind.Dynamic,
		Procedure: &region.Procedure{
			Name:    "add3",
			Regions: &region.Region{Count: -1, Ops: []region.Op{region.Add(-1, 7, 8)}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	list := e.List(1, 1, info)

	l, err := libunwind.Read(m, exampleMemory(e.Data), list)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range l.Infos {
		fmt.Printf("[%#x, %#x) %v %s\n", i.Start, i.End, i.Format, i.Procedure.Name)
		for r := i.Procedure.Regions; r != nil; r = r.Next {
			fmt.Println(r.Count, r.Ops)
		}
	}
	// Output:
	// [0x401000, 0x401020) dynamic add3
	// -1 [add r7 +8 at -1]
}
