// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package check_test

import (
	"debug/elf"
	"errors"
	"fmt"
	"log"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/check"
)

// code is memory with the code of a function.
type code struct {
	address uint64
	bytes   []byte
}

func (c code) ReadMemory(p []byte, addr uint64) error {
	if addr < c.address || addr+uint64(len(p)) > c.address+uint64(len(c.bytes)) {
		return errors.New("no code")
	}
	copy(p, c.bytes[addr-c.address:])
	return nil
}

// The table of a function that pushes rbx forgets to say so.
func ExampleSection() {
	function := code{0x1000, []byte{
		0x53,                   // push %rbx
		0x48, 0x83, 0xec, 0x10, // sub $16, %rsp
		0x31, 0xdb, // xor %ebx, %ebx
		0x48, 0x83, 0xc4, 0x10, // add $16, %rsp
		0x5b, // pop %rbx
		0xc3, // ret
	}}
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	table := cfi.NewBuilder(cfi.EntryCIE(m)).
		At(1).DefCFAOffset(16).
		At(5).DefCFAOffset(32).
		At(11).DefCFAOffset(16).
		At(12).DefCFAOffset(8)
	program, err := table.Program()
	if err != nil {
		log.Fatal(err)
	}
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: m, Address: 0x2000}
	if err := e.Program(program, function.address, uint64(len(function.bytes))); err != nil {
		log.Fatal(err)
	}
	section := &cfi.Section{Name: ".eh_frame", Data: e.Data, Address: e.Address, Machine: m}
	report, err := check.Section(section, check.Code{Memory: function}, check.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Findings {
		fmt.Printf("%v; %s\n", &f, f.Fix)
	}
	fmt.Printf("%d instructions: %d agree, %d disagree, %d undecided\n", report.Instructions, report.Agree, report.Disagree, report.Undecided)
	// Output:
	// 0x1007: wrong register: rbx at CFA-16, but the table says rbx unchanged; .cfi_offset rbx, -16
	// 6 instructions: 4 agree, 2 disagree, 0 undecided
}

// The table of a function that an assembler made, from its bytes.
func ExampleSynthesize() {
	function := []byte{
		0x53,                   // push %rbx
		0x48, 0x83, 0xec, 0x10, // sub $16, %rsp
		0x31, 0xdb, // xor %ebx, %ebx
		0x48, 0x83, 0xc4, 0x10, // add $16, %rsp
		0x5b, // pop %rbx
		0xc3, // ret
		0x50, // push %rax, which no path reaches
	}
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	s, err := check.Synthesize(function, m)
	if err != nil {
		log.Fatal(err)
	}
	e := cfi.Encoder{Kind: cfi.EHFrame, Machine: m, Address: 0x2000}
	if err := e.Program(s.Unwind, 0x1000, uint64(len(function))); err != nil {
		log.Fatal(err)
	}
	section := &cfi.Section{Name: ".eh_frame", Data: e.Data, Address: e.Address, Machine: m}
	var i cfi.Interpreter
	for fde := range section.FDEs() {
		for row := range i.Rows(fde) {
			fmt.Printf("%#x: CFA = %s%+d, %d registers saved\n", row.Start, m.RegisterName(uint64(row.CFA.Register)), row.CFA.Offset, len(row.Registers)-1)
		}
	}
	fmt.Println(s.Gaps)
	// Output:
	// 0x1000: CFA = rsp+8, 0 registers saved
	// 0x1001: CFA = rsp+16, 1 registers saved
	// 0x1005: CFA = rsp+32, 1 registers saved
	// 0x100b: CFA = rsp+16, 1 registers saved
	// 0x100c: CFA = rsp+8, 0 registers saved
	// 0x100d: CFA = rsp+8, 0 registers saved
	// [+0xd to +0xe: not reached]
}
