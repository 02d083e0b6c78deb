// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/unwind"
)

// Each register's value is its position in the kernel's layout plus 0x100.
func TestGeneralRegisters(t *testing.T) {
	tests := []struct {
		name      string
		machine   elf.Machine
		class     elf.Class
		registers int
		width     int
		pc        uint64
		// positions by name: struct user_regs_struct, struct
		// user_regs_struct32 and struct user_pt_regs.
		positions map[string]uint64
	}{
		{"x86-64", elf.EM_X86_64, elf.ELFCLASS64, 27, 8, 16, map[string]uint64{
			"r15": 0, "r14": 1, "r13": 2, "r12": 3, "rbp": 4, "rbx": 5, "r11": 6, "r10": 7, "r9": 8, "r8": 9,
			"rax": 10, "rcx": 11, "rdx": 12, "rsi": 13, "rdi": 14, "rip": 16, "rsp": 19}},
		{"x32", elf.EM_X86_64, elf.ELFCLASS32, 27, 8, 16, map[string]uint64{"rbx": 5, "rip": 16, "rsp": 19}},
		{"i386", elf.EM_386, elf.ELFCLASS32, 17, 4, 12, map[string]uint64{
			"ebx": 0, "ecx": 1, "edx": 2, "esi": 3, "edi": 4, "ebp": 5, "eax": 6, "eip": 12, "esp": 15}},
		{"arm64", elf.EM_AARCH64, elf.ELFCLASS64, 34, 8, 32, map[string]uint64{
			"x0": 0, "x1": 1, "x18": 18, "x29": 29, "x30": 30, "sp": 31}},
		{"arm", elf.EM_ARM, elf.ELFCLASS32, 18, 4, 15, map[string]uint64{
			"r0": 0, "r4": 4, "r11": 11, "r12": 12, "sp": 13, "lr": 14, "pc": 15}},
		{"riscv64", elf.EM_RISCV, elf.ELFCLASS64, 32, 8, 0, map[string]uint64{
			"ra": 1, "sp": 2, "gp": 3, "tp": 4, "t0": 5, "s0": 8, "s1": 9, "a0": 10, "s2": 18, "s11": 27, "t6": 31}},
		{"ppc64le", elf.EM_PPC64, elf.ELFCLASS64, 48, 8, 32, map[string]uint64{
			"r0": 0, "r1": 1, "r14": 14, "r31": 31, "ctr": 35, "lr": 36, "xer": 37, "cr2": 38}},
		{"s390x", elf.EM_S390, elf.ELFCLASS64, 27, 8, 1, map[string]uint64{
			"pswm": 0, "pswa": 1, "r0": 2, "r6": 8, "r14": 16, "r15": 17}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			order, coding := binary.AppendByteOrder(binary.LittleEndian), elf.ELFDATA2LSB
			if test.machine == elf.EM_S390 {
				order, coding = binary.BigEndian, elf.ELFDATA2MSB
			}
			m := arch.Lookup(test.machine, test.class, coding)
			var data []byte
			for i := range test.registers {
				if test.width == 4 {
					data = order.AppendUint32(data, uint32(0x100+i))
				} else {
					data = order.AppendUint64(data, uint64(0x100+i))
				}
			}
			var r unwind.Registers
			r.Set(100, 1) // must be gone
			if err := GeneralRegisters(&r, m, data); err != nil {
				t.Fatal(err)
			}
			if r.PC != 0x100+test.pc {
				t.Errorf("program counter %#x, expected %#x", r.PC, 0x100+test.pc)
			}
			if _, ok := r.Get(100); ok {
				t.Error("a column of before is still known")
			}
			found := 0
			for column := range uint64(unwind.MaxColumns) {
				position, named := test.positions[m.RegisterName(column)]
				if !named {
					continue
				}
				found++
				if v, ok := r.Get(column); !ok || v != 0x100+position {
					t.Errorf("%s, column %d: %#x, %t, expected %#x", m.RegisterName(column), column, v, ok, 0x100+position)
				}
			}
			if found != len(test.positions) {
				t.Errorf("%d registers have a column, expected %d", found, len(test.positions))
			}
			if sp, ok := r.Get(uint64(m.StackPointer)); !ok || sp == 0 {
				t.Error("no stack pointer")
			}
			for _, n := range []int{0, 1, len(data) - 1, len(data) + 1} {
				before := r
				if err := GeneralRegisters(&r, m, make([]byte, n)); err == nil || r != before {
					t.Errorf("%d bytes: %v", n, err)
				}
			}
		})
	}
	var r unwind.Registers
	if err := GeneralRegisters(&r, arch.Lookup(elf.EM_SPARCV9, elf.ELFCLASS64, elf.ELFDATA2MSB), make([]byte, 200)); !errors.Is(err, ErrNoLayout) {
		t.Errorf("unknown layout: %v", err)
	}
}
