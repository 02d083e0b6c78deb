// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package golang_test

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/unwind/golang"
)

type code []byte

func (c code) ReadMemory(p []byte, addr uint64) error {
	copy(p, c[addr-0x401000:])
	return nil
}

func Example() {
	// A function that has saved the frame pointer and uses 16 more bytes.
	main := golang.Function{Name: "main.main", Entry: 0x401000, End: 0x401020, Depth: 24}
	table, ok := golang.New(golang.Program{
		Machine:  arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
		Function: func(addr uint64) (golang.Function, bool) { return main, addr >= main.Entry && addr < main.End },
		Named:    func(string) (golang.Function, bool) { return golang.Function{}, false },
		Code:     make(code, 0x20),
	})
	if !ok {
		panic("amd64 is known")
	}
	rules, err := table.Rules(0x401010)
	if err != nil {
		panic(err)
	}
	fmt.Println("CFA: stack pointer +", rules.CFA.Offset)
	for _, r := range rules.Registers {
		fmt.Println("column", r.Column, "is at CFA", r.Offset)
	}
	// Output:
	// CFA: stack pointer + 32
	// column 6 is at CFA -16
	// column 16 is at CFA -8
}
