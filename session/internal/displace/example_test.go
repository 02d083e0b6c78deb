// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace_test

import (
	"debug/elf"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/session/internal/displace"
)

// The slot of a call pushes the same return address as the call.
func Example() {
	m := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	call := []byte{0xe8, 0x10, 0x00, 0x00, 0x00}
	s, err := displace.Make(m, call, 0x401000, 0x500000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("% x\n", s.Code)
	for _, p := range s.Points {
		fmt.Printf("at +%d the program is at %#x, done: %t\n", p.Offset, p.PC, p.Done)
	}
	fmt.Printf("returns to %#x\n", s.Instruction.Next)
	// Output:
	// ff 35 0a 00 00 00 e9 0a 10 f0 ff cc cc cc cc cc 05 10 40 00 00 00 00 00
	// at +0 the program is at 0x401000, done: false
	// at +6 the program is at 0x401015, done: true
	// returns to 0x401005
}
