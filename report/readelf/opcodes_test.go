// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package readelf_test

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/object"
)

// unknownToReadelf are the vendors of operations that readelf 2.40 prints as
// "User defined call frame op".
var unknownToReadelf = map[cfi.Vendor]bool{cfi.VendorLLVM: true, cfi.VendorAArch64: true}

// TestOpcodes compares with readelf for each operation of cfi's table, encoded as in the table,
// on some machines that define it.
func TestOpcodes(t *testing.T) {
	needReadelf(t)
	compared := 0
	for _, m := range []struct {
		machine elf.Machine
		class   elf.Class
		order   binary.AppendByteOrder
		size    int
	}{
		{elf.EM_X86_64, elf.ELFCLASS64, little, 8},
		{elf.EM_AARCH64, elf.ELFCLASS64, little, 8},
		{elf.EM_MIPS, elf.ELFCLASS32, big, 4},
		{elf.EM_SPARCV9, elf.ELFCLASS64, big, 8},
	} {
		for op := range cfi.Opcodes() {
			f := &frames{order: m.order}
			f.fde(f.cie(cat(1, "", 1, 0x7c, 16, 0x0c, 7, 8, 0x90, 1)...),
				cat(f.code(0x1000, 0x1000, m.size), 0x41, 0x0a, f.operation(op, m.size), 0x41)...)
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, elfFile(m.machine, m.class, m.order, f.section(0)), 0o666); err != nil {
				t.Fatal(err)
			}
			file, err := object.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defined := op.DefinedOn(file.Machine())
			name := op.Name(file.Machine())
			file.Close()
			if !defined || unknownToReadelf[op.Vendor()] {
				continue
			}
			compared++
			for _, mode := range modes {
				if faults, err := compare(path, mode); err != nil || faults != nil {
					t.Errorf("%v: readelf %s: %s: %v, %v", m.machine, option(mode), name, err, faults)
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d operations compared, expected at least 25 on each machine", compared)
	}
}

// operation encodes an operation with a number in each of its operands.
func (f *frames) operation(op cfi.Opcode, size int) []byte {
	b, has := []byte{byte(op)}, op.Operands()
	add := func(operand cfi.Operands, bytes ...byte) {
		if has&operand != 0 {
			b = append(b, bytes...)
		}
	}
	if op >= 0x40 {
		b[0] |= 5 // the first operand
		has &^= cfi.OperandRegister | cfi.OperandDelta
	}
	add(cfi.OperandRegister, 3)
	add(cfi.OperandUnsigned, 0x90, 0x01)
	add(cfi.OperandSigned, 0x7d)
	add(cfi.OperandAddress, f.address(nil, 0x1080, size)...)
	name := op.Name(&arch.Machine{})
	add(cfi.OperandDelta, f.address(nil, 0x21, int(name[len(name)-1]-'0'))...) // DW_CFA_advance_loc2: 2 bytes
	add(cfi.OperandRegister2, 6)
	add(cfi.OperandSpace, 1)
	add(cfi.OperandExpression, 2, 0x77, 8)
	return b
}
