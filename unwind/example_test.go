// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind_test

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/unwind"
)

// ehFrameBytes are a CIE, and the FDEs of a function at 0x1000 that keeps rbp
// and 16 bytes on its stack, and of the outermost one at 0x2000.
var ehFrameBytes = []byte{
	0x10, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 0, 1, 0x78, 16, 0, 0x0c, 7, 8, 0x90, 1,
	0x1a, 0, 0, 0, 0x18, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x0e, 32, 0x86, 2, 0,
	0x18, 0, 0, 0, 0x36, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x07, 16, 0,
}

// stackBytes are at 0x7000: two words of locals, the caller's rbp, the return address.
var stackBytes = []byte{
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0x42, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x20, 0, 0, 0, 0, 0, 0,
}

type exampleStack struct{}

func (exampleStack) ReadMemory(p []byte, addr uint64) error {
	if addr < 0x7000 || addr+uint64(len(p)) > 0x7000+uint64(len(stackBytes)) {
		return errors.New("not part of the stack")
	}
	copy(p, stackBytes[addr-0x7000:])
	return nil
}

func ExampleWalker_Walk() {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	section := &cfi.Section{Name: ".eh_frame", Data: ehFrameBytes, Machine: m}

	var modules unwind.Modules
	const bias = 0x400000
	modules.Add(bias+0x1000, bias+0x3000, &unwind.Module{
		Name: "program", Bias: bias, Source: &unwind.Sections{EHFrame: section},
	})
	stackBytes[26] = 0x40 // the return address is 0x402050

	registers := unwind.Registers{PC: bias + 0x1010}
	registers.Set(7, 0x7000) // rsp

	w := unwind.Walker{Machine: m, Modules: &modules, Memory: exampleStack{}}
	for f := range w.Walk(&registers) {
		rbp, known := f.Registers.Get(6)
		fmt.Printf("%#x %s, by %v, rbp %#x %v\n", f.PC, f.Module.Name, f.Method, rbp, known)
	}
	fmt.Println(w.Reason(), w.Err())
	// Output:
	// 0x401010 program, by registers, rbp 0x0 false
	// 0x402050 program, by CFI, rbp 0x42 true
	// end of stack <nil>
}

// Two samples of one thread: in the second one the inner function has moved, and its caller is
// unchanged.
func ExampleWalker_Follow() {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	var modules unwind.Modules
	modules.Add(0x1000, 0x3000, &unwind.Module{Name: "program",
		Source: &unwind.Sections{EHFrame: &cfi.Section{Name: ".eh_frame", Data: ehFrameBytes, Machine: m}}})
	stackBytes[26] = 0 // the return address is 0x2050

	w := unwind.Walker{Machine: m, Modules: &modules, Stack: unwind.Stack{Address: 0x7000, Bytes: stackBytes}}
	var trail unwind.Trail
	for _, pc := range []uint64{0x1010, 0x1020} {
		registers := unwind.Registers{PC: pc}
		registers.Set(7, 0x7000) // rsp
		registers.Set(6, 0x7fff) // rbp
		w.Follow(&trail, &registers)
		for i := range trail.Len() {
			fmt.Printf("%#x ", trail.At(i).PC)
		}
		fmt.Println("of which known before:", trail.Kept())
	}
	// Output:
	// 0x1010 0x2050 of which known before: 0
	// 0x1020 0x2050 of which known before: 1
}

func ExampleCompile() {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	table := unwind.Compile(&cfi.Section{Name: ".eh_frame", Data: ehFrameBytes, Machine: m})
	for _, pc := range []uint64{0x1010, 0x3000} {
		rules, err := table.Rules(pc)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("CFA = %s%+d\n", m.RegisterName(uint64(rules.CFA.Register)), rules.CFA.Offset)
		for _, r := range rules.Registers {
			fmt.Printf("%s: %v %+d\n", m.RegisterName(uint64(r.Column)), r.Kind, r.Offset)
		}
	}
	// Output:
	// CFA = rsp+32
	// rbp: offset -16
	// rip: offset -8
	// no FDE in .eh_frame covers 0x3000
}
