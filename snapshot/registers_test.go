// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/unwind"
)

// registerLayouts are the kernel's layouts of general registers.
var registerLayouts = []struct {
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
	{"s390", elf.EM_S390, elf.ELFCLASS32, 36, 4, 1, map[string]uint64{
		"pswm": 0, "pswa": 1, "r0": 2, "r6": 8, "r14": 16, "r15": 17, "a0": 18, "a15": 33}},
	{"ppc", elf.EM_PPC, elf.ELFCLASS32, 48, 4, 32, map[string]uint64{
		"r0": 0, "r1": 1, "r14": 14, "r31": 31, "ctr": 35, "lr": 36, "xer": 37, "cr2": 38}},
	{"mips", elf.EM_MIPS, elf.ELFCLASS32, 45, 4, 40, map[string]uint64{
		"zero": 6, "v0": 8, "t0": 14, "s0": 22, "gp": 34, "sp": 35, "fp": 36, "ra": 37, "lo": 38, "hi": 39}},
	{"mips64", elf.EM_MIPS, elf.ELFCLASS64, 45, 8, 34, map[string]uint64{
		"zero": 0, "a4": 8, "t0": 12, "s0": 16, "gp": 28, "sp": 29, "fp": 30, "ra": 31, "lo": 32, "hi": 33}},
	{"mipsn32", elf.EM_MIPS, elf.ELFCLASS32, 45, 8, 34, map[string]uint64{
		"zero": 0, "t0": 12, "sp": 29, "ra": 31, "lo": 32, "hi": 33}},
	{"sparc64", elf.EM_SPARCV9, elf.ELFCLASS64, 36, 8, 33, map[string]uint64{
		"g1": 1, "o0": 8, "sp": 14, "o7": 15, "l0": 16, "i0": 24, "fp": 30, "i7": 31}},
	{"sparc", elf.EM_SPARC, elf.ELFCLASS32, 38, 4, 33, map[string]uint64{"g1": 1, "sp": 14, "l0": 16, "i7": 31}},
	{"loong64", elf.EM_LOONGARCH, elf.ELFCLASS64, 45, 8, 33, map[string]uint64{
		"zero": 0, "ra": 1, "tp": 2, "sp": 3, "a0": 4, "t0": 12, "r21": 21, "fp": 22, "s0": 23, "s8": 31}},
	{"m68k", elf.EM_68K, elf.ELFCLASS32, 20, 4, 18, map[string]uint64{
		"d1": 0, "d7": 6, "a0": 7, "a5": 12, "fp": 13, "d0": 14, "sp": 15, "pc": 18}},
}

// Each register's value is its position in the kernel's layout plus 0x100.
func TestGeneralRegisters(t *testing.T) {
	for _, test := range registerLayouts {
		t.Run(test.name, func(t *testing.T) {
			order, coding := binary.AppendByteOrder(binary.LittleEndian), elf.ELFDATA2LSB
			switch test.machine {
			case elf.EM_S390, elf.EM_PPC, elf.EM_MIPS, elf.EM_SPARCV9, elf.EM_SPARC, elf.EM_68K:
				order, coding = binary.BigEndian, elf.ELFDATA2MSB
			}
			flags := uint32(0)
			if test.name == "mipsn32" {
				flags = 0x20 // EF_MIPS_ABI2
			}
			m := arch.LookupFlags(test.machine, test.class, coding, flags)
			if m.Name != test.name {
				t.Fatalf("machine %s", m.Name)
			}
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
	if err := GeneralRegisters(&r, arch.Lookup(elf.EM_PARISC, elf.ELFCLASS32, elf.ELFDATA2MSB), make([]byte, 200)); !errors.Is(err, ErrNoLayout) {
		t.Errorf("unknown layout: %v", err)
	}
}
