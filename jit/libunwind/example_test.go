// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/jit/libunwind"
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
	// A list, an entry with its region of one operation, and its name.
	memory, err := binary.Append(nil, binary.LittleEndian, struct {
		Version, Generation            uint32
		First                          uint64
		Next, Previous, Start, End, GP uint64
		Format, _                      uint32
		LoadOffset, Name, Handler      uint64
		Flags, _                       uint32
		Regions, NextRegion            uint64
		Instructions, Operations       int32
		Tag, Predicate                 int8
		Register                       int16
		When                           int32
		Value                          uint64
		Text                           [64]byte
	}{Version: 1, Generation: 1, First: 0x7010, Start: 0x401000, End: 0x401020, Name: 0x7088,
		Regions: 0x7068, Instructions: -1, Operations: 1, Tag: 4, Register: 7, When: -1, Value: 8,
		Text: [64]byte{'a', 'd', 'd', '3'}})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := libunwind.Read(m, exampleMemory(memory), 0x7000)
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
