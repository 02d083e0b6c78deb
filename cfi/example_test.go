// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package cfi_test

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// section is what CPython writes for its generated code: one CIE, and the FDE of a
// function of 64 bytes that precedes the section.
func section() *cfi.Section {
	return &cfi.Section{
		Name:    ".eh_frame",
		Address: 0x1040,
		Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
		Data: []byte{
			0x14, 0, 0, 0, 0, 0, 0, 0, // a CIE of 20 bytes
			1, 'z', 'R', 0, 1, 0x78, 16, // version, augmentation, factors 1 and -8, return address
			1, 0x1b, // pointers: pcrel sdata4
			0x0c, 7, 8, 0x90, 1, 0, 0, // DW_CFA_def_cfa rsp+8; DW_CFA_offset rip at CFA-8
			0x1c, 0, 0, 0, 0x1c, 0, 0, 0, // an FDE of 28 bytes
			0xa0, 0xff, 0xff, 0xff, 0x40, 0, 0, 0, // start, relative to here, and size
			0,                       // no augmentation data
			0x41, 0x0e, 16, 0x86, 2, // push %rbp
			0x43, 0x0d, 6, // mov %rsp,%rbp
			0x43, 0x0c, 7, 8, // pop %rbp
			0, 0, 0,
		},
	}
}

func ExampleInterpreter_Rows() {
	s := section()
	var x cfi.Interpreter
	for f := range s.FDEs() {
		fmt.Printf("[%#x, %#x)\n", f.Start, f.End)
		for row := range x.Rows(f) {
			fmt.Printf("%#x CFA=%s%+d", row.Start, s.Machine.RegisterName(uint64(row.CFA.Register)), row.CFA.Offset)
			for _, r := range row.Registers {
				fmt.Printf(" %s=%v%+d", s.Machine.RegisterName(uint64(r.Column)), r.Kind, r.Offset)
			}
			fmt.Println()
		}
	}
	// Output:
	// [0x1000, 0x1040)
	// 0x1000 CFA=rsp+8 rip=offset-8
	// 0x1001 CFA=rsp+16 rbp=offset-16 rip=offset-8
	// 0x1004 CFA=rbp+16 rbp=offset-16 rip=offset-8
	// 0x1007 CFA=rsp+8 rbp=offset-16 rip=offset-8
}

func ExampleSection_Entries() {
	s := section()
	s.Data = append(s.Data, 0, 0, 0, 0, 0xff, 0, 0, 0)
	for e, err := range s.Entries() {
		switch {
		case err != nil:
			fmt.Println(err)
		case e.Terminator():
			fmt.Printf("terminator at %#x\n", e.Offset)
		case e.CIE != nil:
			fmt.Println(e.CIE)
		case e.FDE != nil:
			fmt.Println(e.FDE)
		}
	}
	// Output:
	// CIE at 0x0, version 1, augmentation "zR"
	// FDE at 0x18 for [0x1000, 0x1040)
	// terminator at 0x38
	// .eh_frame+0x3c: truncated: an entry of 0xff bytes, but 0x0 are left
}

func ExampleHeader_Find() {
	s := section()
	header := []byte{
		1, 0x1b, 0x03, 0x3b, // version; how the address, the count and the table are stored
		0x3c, 0x10, 0, 0, // the address of .eh_frame, relative to here
		1, 0, 0, 0, // entries
		0, 0x10, 0, 0, 0x58, 0x10, 0, 0, // function and FDE, relative to the header
	}
	h, err := cfi.ParseHeader(header, 0, s.Machine)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, found := h.Find(0x1005)
	if !found {
		return
	}
	var f cfi.FDE
	if err := s.FDEAt(e.FDE-s.Address, &f); err != nil {
		fmt.Println(err)
		return
	}
	var x cfi.Interpreter
	row, err := x.RowAt(&f, 0x1005)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("[%#x, %#x) CFA=%s%+d\n", row.Start, row.End, s.Machine.RegisterName(uint64(row.CFA.Register)), row.CFA.Offset)
	// Output: [0x1004, 0x1007) CFA=rbp+16
}

// stack is a frame whose frame pointer points to eight bytes of memory.
type stack struct{}

func (stack) Register(column uint64) (uint64, bool) { return 0x7ffe0020, column == 6 }

func (stack) ReadMemory(p []byte, addr uint64) error {
	if addr != 0x7ffe0010 || len(p) != 8 {
		return fmt.Errorf("nothing at %#x", addr)
	}
	copy(p, []byte{0x40, 0, 0xfe, 0x7f, 0, 0, 0, 0})
	return nil
}

func ExampleEvaluator_CFA() {
	s := &cfi.Section{
		Name:    "expression",
		Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB),
		Data:    []byte{0x76, 0x70, 0x06}, // what gcc writes where it realigns the stack
	}
	for o, err := range s.Operations(0, 3) {
		fmt.Println(o.Op, o.Operands[0], err)
	}
	var e cfi.Evaluator
	cfa, err := e.CFA(s, cfi.Rule{Kind: cfi.ValExpression, Offset: 0, Register: 3}, stack{})
	fmt.Printf("CFA=%#x %v\n", cfa, err)
	// Output:
	// DW_OP_breg6 -16 <nil>
	// DW_OP_deref 0 <nil>
	// CFA=0x7ffe0040 <nil>
}

func ExampleBuilder() {
	amd64 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	const rbp, rsp = 6, 7
	program, err := cfi.NewBuilder(cfi.EntryCIE(amd64)).
		At(1).AdjustCFAOffset(8).Offset(rbp, -16). // push %rbp
		At(4).DefCFARegister(rbp).                 // mov %rsp,%rbp
		At(0x1f).DefCFA(rsp, 8).Restore(rbp).      // leave
		Program()
	if err != nil {
		fmt.Println(err)
		return
	}
	// Two functions of 0x20 bytes share the table, in a section that follows them.
	e := cfi.Encoder{Machine: amd64, Address: 0x2000}
	for _, start := range []uint64{0x1000, 0x1020} {
		if err := e.Program(program, start, 0x20); err != nil {
			fmt.Println(err)
			return
		}
	}
	header, err := e.AppendHeader(nil, e.Address+uint64(len(e.Data)))
	fmt.Println(len(e.Data), "bytes,", len(header), "of header,", err)

	s := &cfi.Section{Name: ".eh_frame", Address: e.Address, Machine: amd64, Data: e.Data}
	for entry := range s.Entries() {
		if entry.CIE != nil {
			fmt.Println(entry.CIE)
		} else {
			fmt.Println(entry.FDE)
		}
	}
	_, err = cfi.NewBuilder(cfi.EntryCIE(amd64)).At(1).Offset(rbp, -12).Program()
	fmt.Println(err)
	// Output:
	// 88 bytes, 28 of header, <nil>
	// CIE at 0x0, version 1, augmentation "zR"
	// FDE at 0x18 for [0x1000, 0x1020)
	// FDE at 0x38 for [0x1020, 0x1040)
	// unwind table: +0x1: value out of range: Offset(-12) is not a multiple of the data alignment factor -8
}

func ExampleEncoder_FDE() {
	old := section() // of amd64, in memory at 0x1040
	e := cfi.Encoder{Kind: cfi.DebugFrame, Machine: old.Machine}
	for f := range old.FDEs() {
		if err := e.FDE(f); err != nil {
			fmt.Println(err)
		}
	}
	s := &cfi.Section{Name: ".debug_frame", Kind: cfi.DebugFrame, Machine: e.Machine, Data: e.Data}
	for f := range s.FDEs() {
		fmt.Println(f.CIE)
		fmt.Println(f)
	}
	// Output:
	// CIE at 0x0, version 1, augmentation ""
	// FDE at 0x18 for [0x1000, 0x1040)
}

func ExampleAppendOperation() {
	amd64 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	// The expression is *(rbp-16), as in functions in which gcc realigns the stack.
	var expression []byte
	var err error
	for _, o := range []cfi.Operation{
		{Op: cfi.OpBreg0 + 6, Operands: [2]int64{-16}},
		{Op: cfi.OpDeref},
	} {
		if expression, err = cfi.AppendOperation(expression, o, amd64); err != nil {
			fmt.Println(err)
			return
		}
	}
	program, err := cfi.NewBuilder(cfi.EntryCIE(amd64)).At(8).DefCFAExpression(expression).Program()
	fmt.Printf("%x %x %v\n", expression, program.Instructions, err)
	// Output: 767006 480f03767006 <nil>
}
