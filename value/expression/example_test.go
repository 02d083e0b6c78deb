// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package expression_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
	"github.com/clewdev/clew/value/print"
)

// memory is a range of bytes at 0x1000.
type memory []byte

func (m memory) ReadMemory(p []byte, address uint64) error {
	if address < 0x1000 || address-0x1000+uint64(len(p)) > uint64(len(m)) {
		return fmt.Errorf("not mapped")
	}
	copy(p, m[address-0x1000:])
	return nil
}

func Example() {
	m := memory(binary.LittleEndian.AppendUint32(nil, 41))
	c := &expression.Context{Machine: arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)}
	for _, text := range []string{"*(int *)0x1000 + 1", "*(int *)0x1000 == 41 && 5 / 2.0 > 2", "*(int *)0x2000 + 1", "x + 1"} {
		e, err := expression.Compile(text, c)
		if err != nil {
			fmt.Println(err)
			continue
		}
		v, err := e.Evaluate(value.Static(m, nil, 0))
		if err != nil {
			fmt.Println(err)
			continue
		}
		printed, err := (&print.Printer{}).Print(v)
		fmt.Println(printed, err)
	}
	// Output:
	// 42 <nil>
	// 1 <nil>
	// Cannot access memory at address 0x2000
	// No symbol "x" in current context.
}
