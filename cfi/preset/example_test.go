// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset_test

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/cfi/preset"
)

func ExampleFramePointer() {
	amd64 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	// push rbp; mov rbp, rsp; push rbx; ...; pop rbx; leave; ret
	p, err := preset.FramePointer(amd64, preset.Frame{
		Pushed:    []uint64{3},
		Epilogues: []preset.Epilogue{{Start: 0x3d}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	e := cfi.Encoder{Machine: amd64, Address: 0x2000}
	for _, start := range []uint64{0x1000, 0x1040} {
		if err := e.Program(p, start, 0x40); err != nil {
			fmt.Println(err)
			return
		}
	}
	s := &cfi.Section{Name: ".eh_frame", Machine: amd64, Address: e.Address, Data: e.Data}
	var x cfi.Interpreter
	for f := range s.FDEs() {
		fmt.Println(f)
		for row := range x.Rows(f) {
			fmt.Printf("  +%#x CFA=%s%+d\n", row.Start-f.Start, amd64.RegisterName(uint64(row.CFA.Register)), row.CFA.Offset)
		}
	}
	// Output:
	// FDE at 0x18 for [0x1000, 0x1040)
	//   +0x0 CFA=rsp+8
	//   +0x1 CFA=rsp+16
	//   +0x4 CFA=rbp+16
	//   +0x5 CFA=rbp+16
	//   +0x3e CFA=rbp+16
	//   +0x3f CFA=rsp+8
	// FDE at 0x40 for [0x1040, 0x1080)
	//   +0x0 CFA=rsp+8
	//   +0x1 CFA=rsp+16
	//   +0x4 CFA=rbp+16
	//   +0x5 CFA=rbp+16
	//   +0x3e CFA=rbp+16
	//   +0x3f CFA=rsp+8
}

func ExampleEHFrame() {
	amd64 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	p, err := preset.CPythonPerf(amd64, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	const start, size = 0x7f0012340000, 0x40
	at := preset.PerfAddress(start, size)
	n, _ := preset.EHFrame(nil, p, start, size, at) // returns the size
	buffer := make([]byte, n)
	n, err = preset.EHFrame(buffer, p, start, size, at)
	fmt.Println(n, err)
	_, err = preset.EHFrame(buffer[:20], p, start, size, at)
	fmt.Println(err)
	// Output:
	// 56 <nil>
	// preset: short buffer: an .eh_frame of 56 bytes does not fit a buffer of 20
}
