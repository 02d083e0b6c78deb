// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Machine is what call frame information needs to know of one machine.
// Machines are values of a table: they are never changed and may be shared.
type Machine struct {
	Name        string           // what the field calls it: "x86-64", "arm64"
	ELF         elf.Machine      // e_machine
	Class       elf.Class        // ELFCLASS32 or ELFCLASS64: width of an address in the file
	Order       binary.ByteOrder // byte order of data
	AddressSize int              // bytes of an address

	CodeAlign uint64 // the code alignment factor that compilers write
	DataAlign int64  // the data alignment factor that compilers write

	StackPointer  int // DWARF column, -1 where unknown
	FramePointer  int // DWARF column, -1 where the ABI names none
	ReturnAddress int // DWARF column of the return address, -1 where unknown

	names []string // by DWARF column, "" where the machine has no register
}
