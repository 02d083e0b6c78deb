// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch_test

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/arch"
)

func Example() {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	fmt.Println(m.Name, m.RegisterName(7), m.RegisterName(uint64(m.ReturnAddress)))
	column, _ := m.Column("rbx")
	fmt.Println(column, m.CalleeSaved(column))
	// Output:
	// x86-64 rsp rip
	// 3 true
}

// A machine the table does not hold still reads, by the numbers of its columns.
func ExampleLookup_unknown() {
	m := arch.Lookup(elf.EM_AVR, elf.ELFCLASS32, elf.ELFDATA2LSB)
	fmt.Println(m.Name, m.AddressSize, m.RegisterName(7), m.StackPointer)
	// Output:
	// EM_AVR 4 r7 -1
}

// GNU readelf has no names for MIPS; its rows show numbers.
func ExampleMachine_AppendReadelfName() {
	m := arch.Lookup(elf.EM_MIPS, elf.ELFCLASS32, elf.ELFDATA2MSB)
	fmt.Printf("%s %s\n", m.RegisterName(29), m.AppendReadelfName(nil, 29))
	// Output:
	// sp r29
}
