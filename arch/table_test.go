// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package arch

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"testing"
)

// all returns every machine of the table, and one that is unknown.
func all() map[string]*Machine {
	out := map[string]*Machine{"unknown": Lookup(elf.EM_AVR, elf.ELFCLASS32, elf.ELFDATA2LSB)}
	for machine := range elf.Machine(0xffff) {
		f := familyOf(machine)
		if f == nil {
			continue
		}
		for slot, orders := range f.variants {
			for _, m := range orders {
				if m != nil {
					out[fmt.Sprintf("%s/%v/%d/%d", m.Name, machine, slot, m.AddressSize)] = m
				}
			}
		}
	}
	return out
}

const (
	lsb = elf.ELFDATA2LSB
	msb = elf.ELFDATA2MSB
	c32 = elf.ELFCLASS32
	c64 = elf.ELFCLASS64
)

func TestLookup(t *testing.T) {
	for _, test := range []struct {
		machine  elf.Machine
		class    elf.Class
		data     elf.Data
		flags    uint32
		name     string
		address  int
		register int
		code     uint64
		factor   int64
		sp       string
		fp       string
		ra       string
	}{
		{elf.EM_X86_64, c64, lsb, 0, "x86-64", 8, 8, 1, -8, "rsp", "rbp", "rip"},
		{elf.EM_X86_64, c32, lsb, 0, "x32", 4, 8, 1, -8, "rsp", "rbp", "rip"},
		{elf.EM_386, c32, lsb, 0, "i386", 4, 4, 1, -4, "esp", "ebp", "eip"},
		{elf.EM_486, c32, lsb, 0, "iamcu", 4, 4, 1, -4, "esp", "ebp", "eip"},
		{elf.EM_AARCH64, c64, lsb, 0, "arm64", 8, 8, 4, -8, "sp", "x29", "x30"},
		{elf.EM_AARCH64, c64, msb, 0, "arm64be", 8, 8, 4, -8, "sp", "x29", "x30"},
		{elf.EM_AARCH64, c32, lsb, 0, "arm64ilp32", 4, 8, 4, -8, "sp", "x29", "x30"},
		{elf.EM_ARM, c32, lsb, 0x05000400, "arm", 4, 4, 2, -4, "sp", "r11", "lr"},
		{elf.EM_ARM, c32, msb, 0, "armbe", 4, 4, 2, -4, "sp", "r11", "lr"},
		{elf.EM_RISCV, c64, lsb, 5, "riscv64", 8, 8, 1, -4, "sp", "s0", "ra"},
		{elf.EM_RISCV, c32, lsb, 0, "riscv32", 4, 4, 1, -4, "sp", "s0", "ra"},
		{elf.EM_PPC64, c64, msb, 1, "ppc64", 8, 8, 4, -8, "r1", "", "lr"},
		{elf.EM_PPC64, c64, lsb, 2, "ppc64le", 8, 8, 4, -8, "r1", "", "lr"},
		{elf.EM_PPC, c32, msb, 0, "ppc", 4, 4, 4, -4, "r1", "", "lr"},
		{elf.EM_PPC, c32, lsb, 0, "ppcle", 4, 4, 4, -4, "r1", "", "lr"},
		{elf.EM_S390, c64, msb, 0, "s390x", 8, 8, 1, -8, "r15", "", "r14"},
		{elf.EM_S390, c32, msb, 0, "s390", 4, 4, 1, -4, "r15", "", "r14"},
		{elf.EM_LOONGARCH, c64, lsb, 0, "loong64", 8, 8, 1, -4, "sp", "fp", "ra"},
		{elf.EM_LOONGARCH, c32, lsb, 0, "loong32", 4, 4, 1, -4, "sp", "fp", "ra"},
		{elf.EM_MIPS, c64, msb, 0, "mips64", 8, 8, 1, -4, "sp", "fp", "ra"},
		{elf.EM_MIPS, c64, lsb, 0x20, "mips64le", 8, 8, 1, -4, "sp", "fp", "ra"},
		{elf.EM_MIPS, c32, msb, 0x70001007, "mips", 4, 4, 1, -4, "sp", "fp", "ra"},
		{elf.EM_MIPS, c32, lsb, 0, "mipsle", 4, 4, 1, -4, "sp", "fp", "ra"},
		{elf.EM_MIPS, c32, msb, 0x80000027, "mipsn32", 4, 8, 1, -4, "sp", "fp", "ra"},
		{elf.EM_MIPS, c32, lsb, 0x80000027, "mipsn32le", 4, 8, 1, -4, "sp", "fp", "ra"},
		{elf.EM_SPARCV9, c64, msb, 0, "sparc64", 8, 8, 4, -8, "sp", "fp", "o7"},
		{elf.EM_SPARC, c32, msb, 0x20, "sparc", 4, 4, 4, -4, "sp", "fp", "o7"},
		{elf.EM_SPARC32PLUS, c32, msb, 0, "sparc32plus", 4, 4, 4, -4, "sp", "fp", "o7"},
		{elf.EM_PARISC, c32, msb, 0, "hppa", 4, 4, 4, 4, "sp", "", "rp"},
		{elf.EM_68K, c32, msb, 0, "m68k", 4, 4, 2, -4, "sp", "fp", "pc"},
		{elf.EM_SH, c32, lsb, 0, "sh4", 4, 4, 2, -4, "r15", "r14", "pr"},
		{elf.EM_ALPHA, c64, lsb, 0, "alpha", 8, 8, 4, -8, "sp", "fp", "ra"},
		{elf.EM_AVR, c32, lsb, 0, "EM_AVR", 4, 4, 1, -4, "", "", ""},
		{elf.EM_IA_64, c64, msb, 0, "EM_IA_64", 8, 8, 1, -8, "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := LookupFlags(test.machine, test.class, test.data, test.flags)
			if m.Name != test.name {
				t.Errorf("name %q", m.Name)
			}
			if m.ELF != test.machine || m.Class != test.class {
				t.Errorf("header fields %v %v", m.ELF, m.Class)
			}
			if big := m.Order == binary.BigEndian; big != (test.data == msb) {
				t.Errorf("order %v", m.Order)
			}
			if m.AddressSize != test.address || m.RegisterSize != test.register {
				t.Errorf("address %d, register %d bytes; want %d, %d",
					m.AddressSize, m.RegisterSize, test.address, test.register)
			}
			if m.CodeAlign != test.code || m.DataAlign != test.factor {
				t.Errorf("alignment factors %d %d; want %d %d", m.CodeAlign, m.DataAlign, test.code, test.factor)
			}
			for _, special := range []struct {
				what   string
				column int
				name   string
			}{
				{"stack pointer", m.StackPointer, test.sp},
				{"frame pointer", m.FramePointer, test.fp},
				{"return address", m.ReturnAddress, test.ra},
			} {
				if special.column < 0 {
					if special.name != "" {
						t.Errorf("no %s, want %s", special.what, special.name)
					}
					continue
				}
				if got := m.RegisterName(uint64(special.column)); got != special.name {
					t.Errorf("%s is %s, want %s", special.what, got, special.name)
				}
			}
		})
	}
}

func TestLookupIsShared(t *testing.T) {
	for _, test := range []struct {
		machine elf.Machine
		class   elf.Class
		flags   uint32
	}{
		{elf.EM_X86_64, c64, 0}, {elf.EM_X86_64, c32, 0}, {elf.EM_MIPS, c32, 0x20}, {elf.EM_S390, c64, 0},
	} {
		results := make(chan *Machine)
		for range 4 {
			go func() { results <- LookupFlags(test.machine, test.class, msb, test.flags) }()
		}
		first := <-results
		for range 3 {
			if m := <-results; m != first {
				t.Errorf("%v %v: two machines for one header", test.machine, test.class)
			}
		}
	}
}

// Every header gives a machine, with any bytes in e_ident.
func TestLookupOfAnyHeader(t *testing.T) {
	for machine := range elf.Machine(0x10000 >> 4) {
		for _, class := range []elf.Class{0, 1, 2, 3, 255} {
			for _, data := range []elf.Data{0, 1, 2, 3, 255} {
				m := LookupFlags(machine, class, data, 0xffffffff)
				if m == nil || m.ELF != machine || m.Order == nil || m.Name == "" || m.CodeAlign == 0 || m.DataAlign == 0 {
					t.Fatalf("%v %v %v: %+v", machine, class, data, m)
				}
				if m.AddressSize != map[elf.Class]int{c32: 4, c64: 8}[m.Class] {
					t.Fatalf("%v %v %v: %d bytes in %v", machine, class, data, m.AddressSize, m.Class)
				}
				if (class == c32 || class == c64) && m.Class != class {
					t.Fatalf("%v %v %v: class %v", machine, class, data, m.Class)
				}
			}
		}
	}
	if m := Lookup(elf.EM_S390, 0, 0); m.Name != "s390x" || m.Order != binary.BigEndian {
		t.Errorf("s390 without class and order is %s", m.Name)
	}
	if m := Lookup(elf.EM_386, c64, msb); m.Name != "i386be" || m.AddressSize != 8 || m.RegisterName(4) != "esp" {
		t.Errorf("i386 with 64 bits, big-endian, is %s", m.Name)
	}
}

func TestUnknownMachine(t *testing.T) {
	m := Lookup(elf.EM_AVR, c32, msb)
	if m.StackPointer != -1 || m.FramePointer != -1 || m.ReturnAddress != -1 {
		t.Errorf("special columns %d %d %d", m.StackPointer, m.FramePointer, m.ReturnAddress)
	}
	for column, want := range map[uint64]string{0: "r0", 7: "r7", 4096: "r4096", 1<<64 - 1: "r18446744073709551615"} {
		if got := m.RegisterName(column); got != want {
			t.Errorf("RegisterName(%d) = %q, want %q", column, got, want)
		}
		if m.CalleeSaved(column) {
			t.Errorf("CalleeSaved(%d)", column)
		}
	}
	if _, ok := m.Column("sp"); ok {
		t.Error("an unknown machine has a stack pointer")
	}
}

func TestExpandNames(t *testing.T) {
	got := fmt.Sprint(expandNames("a x[2-4] y[9-10]h  b"))
	if want := "[a x2 x3 x4 y9h y10h b]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func BenchmarkLookup(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Lookup(elf.EM_X86_64, c64, lsb)
	}
}

// The first Lookup of a machine.
func BenchmarkNewFamily(b *testing.B) {
	rows := []*row{&x86Rows[0], &x86Rows[1]}
	b.ReportAllocs()
	for b.Loop() {
		newFamily(rows)
	}
}
