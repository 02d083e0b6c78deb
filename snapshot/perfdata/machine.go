// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"debug/elf"
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/unwind"
)

type machineName struct {
	machine elf.Machine
	class   elf.Class
}

// machineNames maps what uname -m prints to machines; where the name does not
// tell the byte order, the recording does. The 32-bit x86 and Arm have many
// names: see machine.
var machineNames = sync.OnceValue(func() map[string]machineName {
	return map[string]machineName{
		"x86_64":      {elf.EM_X86_64, elf.ELFCLASS64},
		"aarch64":     {elf.EM_AARCH64, elf.ELFCLASS64},
		"aarch64_be":  {elf.EM_AARCH64, elf.ELFCLASS64},
		"arm64":       {elf.EM_AARCH64, elf.ELFCLASS64},
		"riscv64":     {elf.EM_RISCV, elf.ELFCLASS64},
		"riscv32":     {elf.EM_RISCV, elf.ELFCLASS32},
		"s390x":       {elf.EM_S390, elf.ELFCLASS64},
		"s390":        {elf.EM_S390, elf.ELFCLASS32},
		"ppc64":       {elf.EM_PPC64, elf.ELFCLASS64},
		"ppc64le":     {elf.EM_PPC64, elf.ELFCLASS64},
		"ppc":         {elf.EM_PPC, elf.ELFCLASS32},
		"ppcle":       {elf.EM_PPC, elf.ELFCLASS32},
		"loongarch64": {elf.EM_LOONGARCH, elf.ELFCLASS64},
		"loongarch32": {elf.EM_LOONGARCH, elf.ELFCLASS32},
		"mips64":      {elf.EM_MIPS, elf.ELFCLASS64},
		"mips":        {elf.EM_MIPS, elf.ELFCLASS32},
		"sparc64":     {elf.EM_SPARCV9, elf.ELFCLASS64},
		"parisc":      {elf.EM_PARISC, elf.ELFCLASS32},
		"parisc64":    {elf.EM_PARISC, elf.ELFCLASS64},
		"alpha":       {elf.EM_ALPHA, elf.ELFCLASS64},
		"m68k":        {elf.EM_68K, elf.ELFCLASS32},
	}
})

func machine(name string, big bool) *arch.Machine {
	data := elf.ELFDATA2LSB
	if big {
		data = elf.ELFDATA2MSB
	}
	if m, ok := machineNames()[name]; ok {
		return arch.Lookup(m.machine, m.class, data)
	}
	switch {
	case len(name) == 4 && name[0] == 'i' && strings.HasSuffix(name, "86"):
		return arch.Lookup(elf.EM_386, elf.ELFCLASS32, data)
	case strings.HasPrefix(name, "arm"):
		return arch.Lookup(elf.EM_ARM, elf.ELFCLASS32, data)
	}
	return nil
}

// Registers sets *regs to the registers of the set, by the DWARF columns of the
// machine that the thread ran as, and returns that machine: m, or for ABI32 on a
// machine of 64 bits the one of 32 (i386 of x86-64, arm of arm64). It returns nil
// and leaves *regs as it was where there are no registers, no program counter is
// among them, or the machine's numbers are not known.
func (s *RegisterSet) Registers(m *arch.Machine, regs *unwind.Registers) *arch.Machine {
	if s.ABI == ABINone || m == nil {
		return nil
	}
	if s.ABI == ABI32 && m.Class == elf.ELFCLASS64 {
		if m = compatible(m); m == nil {
			return nil
		}
	}
	var table *registerNumbers
	for i := range registerTables {
		if t := &registerTables[i]; t.machine == m.ELF {
			table = t
			break
		}
	}
	if table == nil || s.Mask>>table.pc&1 == 0 {
		return nil
	}
	short := m.Class == elf.ELFCLASS32
	*regs = unwind.Registers{}
	mask := s.Mask
	for _, v := range s.Values {
		if mask == 0 {
			break
		}
		n := bits.TrailingZeros64(mask)
		mask &= mask - 1
		if short {
			v = uint64(uint32(v))
		}
		if n == table.pc {
			regs.PC = v
		}
		if n < len(table.columns) && table.columns[n] != none {
			regs.Set(uint64(table.columns[n]), v)
		}
	}
	return m
}

// compatible returns the machine of 32 bits whose programs a kernel of m runs, as
// ABI32 has them.
func compatible(m *arch.Machine) *arch.Machine {
	data := elf.ELFDATA2LSB
	if m.Order == binary.BigEndian {
		data = elf.ELFDATA2MSB
	}
	compat, ok := map[elf.Machine]elf.Machine{
		elf.EM_X86_64: elf.EM_386, elf.EM_AARCH64: elf.EM_ARM, elf.EM_PPC64: elf.EM_PPC,
		elf.EM_S390: elf.EM_S390, elf.EM_RISCV: elf.EM_RISCV, elf.EM_MIPS: elf.EM_MIPS,
		elf.EM_LOONGARCH: elf.EM_LOONGARCH,
	}[m.ELF]
	if !ok {
		return nil
	}
	return arch.Lookup(compat, elf.ELFCLASS32, data)
}

// registerNumbers gives the DWARF columns of perf's register numbers.
type registerNumbers struct {
	machine elf.Machine
	pc      int     // perf's number of the program counter
	columns []uint8 // by perf's numbers; none where the ABI has no column
}

const none = 0xff

// The orders are those of arch/*/include/uapi/asm/perf_regs.h.
var registerTables = []registerNumbers{
	// ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 to r15. Columns: psABI
	// amd64, Figure 3.36. The vector registers that follow are in halves.
	{elf.EM_X86_64, 8, []uint8{
		0, 3, 2, 1, 4, 5, 6, 7, 16, 49, 51, 52, 53, 50, 54, 55, 8, 9, 10, 11, 12, 13, 14, 15}},
	// The same without r8 to r15. Columns: psABI i386, Table 2.14.
	{elf.EM_386, 8, []uint8{
		0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 41, 42, 43, 40, 44, 45}},
	// x0 to x29, lr, sp, pc. Columns: DWARF for the Arm 64-bit Architecture, §4.1.
	{elf.EM_AARCH64, 32, []uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}},
	// r0 to r10, fp, ip, sp, lr, pc. A kernel of 64 bits gives them the same
	// numbers: perf_reg_value in arch/arm64/kernel/perf_regs.c. Columns: DWARF for
	// the Arm Architecture, §4.1.
	{elf.EM_ARM, 15, []uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
	// pc ra sp gp tp t0 to t2 s0 s1 a0 to a7 s2 to s11 t3 to t6: but for the pc the
	// order of the columns (RISC-V psABI, "DWARF Register Numbers").
	{elf.EM_RISCV, 0, pcFirstColumns},
	// r0 to r15, fp0 to fp15, mask, pc. Columns: ELF ABI s390x Supplement; those of
	// the floating-point registers come in the order in which they pair up.
	{elf.EM_S390, 33, []uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31, 64, 65}},
	// r0 to r31, nip, msr, orig_r3, ctr, link, xer. Columns: OpenPOWER ELFv2 ABI
	// §2.4.
	{elf.EM_PPC64, 32, powerColumns},
	{elf.EM_PPC, 32, powerColumns},
	// pc, r1 to r31, which are the columns too.
	{elf.EM_LOONGARCH, 0, pcFirstColumns},
	{elf.EM_MIPS, 0, pcFirstColumns},
}

var pcFirstColumns = []uint8{none,
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
}

var powerColumns = []uint8{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	none, none, none, 66, 65, 76,
}
