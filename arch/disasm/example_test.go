// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package disasm_test

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/arch/disasm"
)

func ExampleDecode() {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	code := []byte{0x53, 0x31, 0xc0, 0x5b, 0xc3}
	for pc := uint64(0x1139); len(code) > 0; {
		text, size := disasm.Decode(m, code, pc, nil)
		fmt.Printf("%#x  %s\n", pc, text)
		code, pc = code[size:], pc+uint64(size)
	}
	// Output:
	// 0x1139  push %rbx
	// 0x113a  xor %eax,%eax
	// 0x113c  pop %rbx
	// 0x113d  ret
}
