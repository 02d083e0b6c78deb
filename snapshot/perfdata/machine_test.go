// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"debug/elf"
	"math/bits"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/unwind"
)

// machineTests are the machines with a kernel header in Debian, with the names of registers
// that differ from those of package arch.
var machineTests = []struct {
	uname, pkg, header string
	machine            elf.Machine
	class              elf.Class
	data               elf.Data
	names              map[string]string // "" where there is no column
}{
	{"x86_64", "linux-libc-dev", "/usr/include/x86_64-linux-gnu", elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB, map[string]string{
		"ax": "rax", "bx": "rbx", "cx": "rcx", "dx": "rdx", "si": "rsi", "di": "rdi", "bp": "rbp", "sp": "rsp", "ip": "rip", "flags": "rflags"}},
	{"i686", "linux-libc-dev-i386-cross", "/usr/i686-linux-gnu/include", elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB, map[string]string{
		"ax": "eax", "bx": "ebx", "cx": "ecx", "dx": "edx", "si": "esi", "di": "edi", "bp": "ebp", "sp": "esp", "ip": "eip", "flags": "eflags",
		"r8": "", "r9": "", "r10": "", "r11": "", "r12": "", "r13": "", "r14": "", "r15": ""}},
	{"aarch64", "linux-libc-dev-arm64-cross", "/usr/aarch64-linux-gnu/include", elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB, map[string]string{"lr": "x30"}},
	{"armv7l", "linux-libc-dev-armhf-cross", "/usr/arm-linux-gnueabihf/include", elf.EM_ARM, elf.ELFCLASS32, elf.ELFDATA2LSB, map[string]string{
		"fp": "r11", "ip": "r12", "sp": "r13", "lr": "r14", "pc": "r15"}},
	{"riscv64", "linux-libc-dev-riscv64-cross", "/usr/riscv64-linux-gnu/include", elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB, map[string]string{"pc": ""}},
	{"s390x", "linux-libc-dev-s390x-cross", "/usr/s390x-linux-gnu/include", elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB, map[string]string{
		"mask": "pswm", "pc": "pswa"}},
	{"ppc64le", "linux-libc-dev-ppc64el-cross", "/usr/powerpc64le-linux-gnu/include", elf.EM_PPC64, elf.ELFCLASS64, elf.ELFDATA2LSB, map[string]string{
		"link": "lr", "nip": "", "msr": "", "orig_r3": "", "ccr": "", "softe": "", "trap": "", "dar": "", "dsisr": "", "sier": "", "mmcra": ""}},
}

var (
	enumerator = regexp.MustCompile(`(?m)^\s*PERF_REG_[A-Z0-9]+?_((?:[A-Z]+_)?[A-Z0-9]+)(?: = (\d+))?\s*,`)
	fpNumber   = regexp.MustCompile(`^fp(\d+)$`)
)

// TestRegisters reads the numbers of registers from the kernel's headers.
func TestRegisters(t *testing.T) {
	for _, test := range machineTests {
		t.Run(test.uname, func(t *testing.T) {
			text, err := os.ReadFile(test.header + "/asm/perf_regs.h")
			if err != nil {
				t.Skipf("skipped: %s is not installed", test.pkg)
			}
			m := arch.Lookup(test.machine, test.class, test.data)
			pc, columns := -1, make(map[int]int)
			var set perfdata.RegisterSet
			set.ABI = perfdata.ABI64
			if m.Class == elf.ELFCLASS32 {
				set.ABI = perfdata.ABI32
			}
			for i, e := range enumerator.FindAllStringSubmatch(string(text), -1) {
				name := strings.ToLower(e[1])
				if e[2] != "" || name == "max" || name == "mmcr0" {
					break // vector registers and such, of which there are no general ones
				}
				if slices.Contains([]string{"ip", "pc", "nip"}, name) && (name != "ip" || m.ELF != elf.EM_ARM) {
					pc = i
				}
				set.Mask |= 1 << i
				set.Values = append(set.Values, 1000+uint64(i))
				if n := fpNumber.FindStringSubmatch(name); n != nil {
					name = "f" + n[1]
				}
				if other, ok := test.names[name]; ok {
					name = other
				}
				if name == "" {
					continue
				}
				column, ok := m.Column(name)
				if !ok {
					t.Fatalf("register %d: no column is called %q", i, name)
				}
				columns[i] = int(column)
			}
			if len(set.Values) < 10 || pc < 0 {
				t.Fatalf("%d registers in the header, pc is %d", len(set.Values), pc)
			}
			var regs unwind.Registers
			if got := set.Registers(m, &regs); got != m {
				t.Fatalf("machine %v, want %s", got, m.Name)
			}
			if regs.PC != 1000+uint64(pc) {
				t.Errorf("pc is register %d, want %d", regs.PC-1000, pc)
			}
			want := make(map[int]int)
			for i, column := range columns {
				want[column] = i
			}
			for column := range unwind.MaxColumns {
				i, known := want[column]
				if v, ok := regs.Get(uint64(column)); ok != known || ok && v != 1000+uint64(i) {
					t.Errorf("column %d (%s): %d %v, want register %d, %v", column, m.RegisterName(uint64(column)), v, ok, i, known)
				}
			}
			// perf's name of the machine.
			e := newEncoder(orders[map[elf.Data]string{elf.ELFDATA2LSB: "little", elf.ELFDATA2MSB: "big"}[test.data]]).pipe(timed)
			e.record(perfdata.TypeHeaderFeature, 0, func() { e.u64(6); e.str(test.uname) })
			r := open(t, e.b)
			next(t, r)
			next(t, r)
			if r.Machine() != m {
				t.Errorf("%s: machine %v", test.uname, r.Machine())
			}
		})
	}
}

// TestRegisterSubsets has masks with gaps, and sets without required registers.
func TestRegisterSubsets(t *testing.T) {
	amd64 := arch.Lookup(elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	arm64 := arch.Lookup(elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB)
	for _, test := range []struct {
		m       *arch.Machine
		abi     perfdata.ABI
		mask    uint64
		machine string // "": none
		column  uint64
		value   uint64 // of column; that of perf's register n is 0x100000000+n
		pc      uint64
	}{
		{amd64, perfdata.ABI64, 0xff0fff, "x86-64", 15, 0x100000017, 0x100000008},
		{amd64, perfdata.ABI64, 1<<8 | 1<<7, "x86-64", 7, 0x100000007, 0x100000008},
		{amd64, perfdata.ABI64, 1 << 7, "", 0, 0, 0},
		{amd64, perfdata.ABINone, 0xff0fff, "", 0, 0, 0},
		{nil, perfdata.ABI64, 0xff0fff, "", 0, 0, 0},
		{amd64, perfdata.ABI32, 0xff0fff, "i386", 5, 6, 8},
		{arm64, perfdata.ABI64, 1<<33 - 1, "arm64", 31, 0x10000001f, 0x100000020},
		{arm64, perfdata.ABI32, 1<<33 - 1, "arm", 13, 13, 15},
		// PERF_REG_LOONGARCH_PC, then R1 to R31.
		{arch.Lookup(elf.EM_LOONGARCH, elf.ELFCLASS64, elf.ELFDATA2LSB), perfdata.ABI64, 1<<32 - 1, "loong64", 3, 0x100000003, 0x100000000},
		{arch.Lookup(elf.EM_AVR, 0, 0), perfdata.ABI64, 0xff0fff, "", 0, 0, 0},
		// SVE's vg, and vector registers of x86.
		{arm64, perfdata.ABI64, 1<<33 - 1 | 1<<46, "arm64", 31, 0x10000001f, 0x100000020},
		{amd64, perfdata.ABI64, 0xff0fff | 3<<62, "x86-64", 15, 0x100000017, 0x100000008},
	} {
		set := perfdata.RegisterSet{ABI: test.abi, Mask: test.mask}
		for mask := test.mask; mask != 0; mask &= mask - 1 {
			set.Values = append(set.Values, 1<<32+uint64(bits.TrailingZeros64(mask)))
		}
		var regs unwind.Registers
		regs.PC = 1
		m := set.Registers(test.m, &regs)
		if test.machine == "" {
			if m != nil || regs.PC != 1 {
				t.Errorf("%+v: machine %s, pc %#x", test, m.Name, regs.PC)
			}
			continue
		}
		if v, _ := regs.Get(test.column); m == nil || m.Name != test.machine || v != test.value || regs.PC != test.pc {
			t.Errorf("%+v: machine %v, column %#x, pc %#x", test, m, v, regs.PC)
		}
	}
}

func TestMachines(t *testing.T) {
	for uname, want := range map[string]string{
		"i386": "i386", "i586": "i386", "armv5tel": "arm", "armv8l": "arm", "arm64": "arm64", "aarch64_be": "arm64",
		"loongarch64": "loong64", "mips64": "", "vax": "none", "": "none", "i6": "none",
	} {
		e := newEncoder(orders["little"]).pipe(timed)
		e.record(perfdata.TypeHeaderFeature, 0, func() { e.u64(6); e.str(uname) })
		r := open(t, e.b)
		next(t, r)
		next(t, r)
		m := r.Machine()
		if (m == nil) != (want == "none") || m != nil && want != "" && m.Name != want {
			t.Errorf("%s: %v, want %s", strconv.Quote(uname), m, want)
		}
	}
}
