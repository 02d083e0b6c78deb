// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
	"strconv"
)

// Machine describes a machine: its ABI, and in Description the facts that Linux,
// compilers and Go add. Machines of the table must not be changed. They may be shared
// between goroutines.
type Machine struct {
	Name         string           // the usual name: "x86-64", "arm64"
	ELF          elf.Machine      // e_machine
	Class        elf.Class        // ELFCLASS32 or ELFCLASS64: width of an address in the file
	Order        binary.ByteOrder // byte order of data
	AddressSize  int              // bytes of an address: 4 or 8
	RegisterSize int              // bytes of a general register in its save slot: 8 on x32 and MIPS n32, elsewhere AddressSize

	CodeAlign uint64 // the code alignment factor that gcc and gas write, 1 where unknown
	DataAlign int64  // the data alignment factor that gcc and gas write, -AddressSize where unknown

	StackPointer  int // DWARF column, -1 where unknown
	FramePointer  int // DWARF column, -1 where the ABI names none
	ReturnAddress int // DWARF column of the return address, -1 where unknown

	// ProgramCounter is the DWARF column of the program counter, -1 where the
	// machine has none or it is unknown. On x86 and m68k it is the return address's.
	ProgramCounter int

	// CFAOffset is the CFA minus the stack pointer the caller has after the
	// return, in bytes. It is 0 but for s390 (the register save area lies
	// between the two) and sparc64 (where the stack pointer has a bias).
	CFAOffset int64

	// ReturnOffset is added to the return address column's value to get the
	// address that a function returns to, in bytes. It is 8 on SPARC, where a call
	// leaves its own address and has a delay slot, and 0 elsewhere.
	ReturnOffset int64
	// CodeMask holds the bits of a code pointer that are the address. The others
	// are the mode that the code runs in: the lowest bit on arm and MIPS, the two
	// lowest on hppa, the highest of 32 on s390.
	CodeMask uint64

	Description
	code instructions

	names   []string // by column, "" where the machine has no register
	aliases []alias
	saved   columnSet
	readelf []string // by column, "" where readelf prints a number
	// readelfLimit is the highest column that GNU readelf 2.40 accepts. It calls higher ones
	// (of which it keeps 32 bits) "bad register". If it has names for the machine, it skips
	// them. Otherwise it reports an "Unfeasibly large register number" on standard error and
	// forgets every column that it has seen in that entry.
	readelfLimit uint64
	csr          bool // columns from csrFirst on are control and status registers
}

type alias struct {
	name   string
	column uint64
}

// columnSet is a set of columns below 320, which is above every register an
// ABI has callees preserve (the highest is arm's d15 = 271).
type columnSet [5]uint64

func (s *columnSet) add(first, last int) {
	for c := first; c <= last; c++ {
		s[c>>6] |= 1 << (c & 63)
	}
}

// RegisterName returns the psABI's name of a column, or "r" and the number for a column
// without a name. GNU readelf prints the same name on machines that it knows.
// RegisterName does not allocate for a register of the table.
func (m *Machine) RegisterName(column uint64) string {
	if name := m.named(column); name != "" {
		return name
	}
	var buf [24]byte
	return string(m.appendUnnamed(buf[:0], column))
}

// AppendRegisterName appends the result of RegisterName to dst. It allocates only where
// dst must grow.
func (m *Machine) AppendRegisterName(dst []byte, column uint64) []byte {
	if name := m.named(column); name != "" {
		return append(dst, name...)
	}
	return m.appendUnnamed(dst, column)
}

func (m *Machine) named(column uint64) string {
	if column < uint64(len(m.names)) {
		return m.names[column]
	}
	if m.isCSR(column) {
		return csrNames()[column-csrFirst]
	}
	return ""
}

func (m *Machine) appendUnnamed(dst []byte, column uint64) []byte {
	if m.isCSR(column) {
		return strconv.AppendUint(append(dst, "csr"...), column-csrFirst, 10)
	}
	return strconv.AppendUint(append(dst, 'r'), column, 10)
}

func (m *Machine) isCSR(column uint64) bool {
	return m.csr && column >= csrFirst && column <= csrLast
}

// Column returns the column of a register by its name. It accepts every name that
// RegisterName returns (also "r57" for a column without a name) and the machine's usual
// second names ("x30" and "lr", "s8" and "fp"). It also accepts "sp", "fp" and "ra" for
// the stack pointer, the frame pointer and the return address on every machine that has
// them. Names are in lower case, without "%" or "$".
func (m *Machine) Column(name string) (column uint64, ok bool) {
	if name == "" {
		return 0, false
	}
	for c, n := range m.names {
		if n == name {
			return uint64(c), true
		}
	}
	for _, a := range m.aliases {
		if a.name == name {
			return a.column, true
		}
	}
	special := -1
	switch name {
	case "sp":
		special = m.StackPointer
	case "fp":
		special = m.FramePointer
	case "ra":
		special = m.ReturnAddress
	}
	if special >= 0 {
		return uint64(special), true
	}
	if m.csr {
		if c, ok := csrColumn(name); ok {
			return c, true
		}
	}
	if name[0] != 'r' {
		return 0, false
	}
	c, err := strconv.ParseUint(name[1:], 10, 64)
	// Column 7 of x86-64 is "rsp" and not "r7". "r07" names no column.
	if err != nil || m.named(c) != "" || m.RegisterName(c) != name {
		return 0, false
	}
	return c, true
}

// CalleeSaved reports whether a procedure that follows the psABI returns with the
// register unchanged. Such a register without a rule has the same value in the caller
// as in the callee. Registers that no procedure may change (the thread pointer) are
// included. If a vector register overlaps a preserved floating-point register (arm64's
// v8), the ABI preserves only the part that overlaps.
//
// Two columns are special. The stack pointer is preserved, but without a rule in the
// row its value in the caller is CFA-CFAOffset. The return address is not preserved:
// without a rule in the row it is still in its register, as in a leaf function of
// arm64.
func (m *Machine) CalleeSaved(column uint64) bool {
	return column < uint64(len(m.saved)*64) && m.saved[column>>6]>>(column&63)&1 != 0
}
