// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"debug/elf"

	"github.com/clewdev/clew/arch"
)

// registerLayout is Linux's layout of a machine's general register set:
// register set NT_PRSTATUS of PTRACE_GETREGSET, and pr_reg of a core's
// NT_PRSTATUS note.
type registerLayout struct {
	machine elf.Machine
	class   elf.Class
	width   int // bytes of a register
	pc      int // position of the program counter
	// columns holds the DWARF column of each position, none where it has none.
	columns []uint8
}

const none = 0xff

var registerLayouts = []registerLayout{
	{elf.EM_X86_64, elf.ELFCLASS64, 8, 16, columnsX8664},
	// x32: the registers are those of x86-64, only pointers are short.
	{elf.EM_X86_64, elf.ELFCLASS32, 8, 16, columnsX8664},
	{elf.EM_386, elf.ELFCLASS32, 4, 12, columnsI386},
	{elf.EM_AARCH64, elf.ELFCLASS64, 8, 32, columnsARM64},
	{elf.EM_ARM, elf.ELFCLASS32, 4, 15, columnsARM},
	{elf.EM_RISCV, elf.ELFCLASS64, 8, 0, columnsRISCV},
	{elf.EM_RISCV, elf.ELFCLASS32, 4, 0, columnsRISCV},
	{elf.EM_PPC64, elf.ELFCLASS64, 8, 32, columnsPower},
	{elf.EM_PPC, elf.ELFCLASS32, 4, 32, columnsPower},
	{elf.EM_S390, elf.ELFCLASS64, 8, 1, columnsS390X},
	{elf.EM_S390, elf.ELFCLASS32, 4, 1, columnsS390},
	{elf.EM_MIPS, elf.ELFCLASS64, 8, 34, columnsMIPS64},
	{elf.EM_MIPS, elf.ELFCLASS32, 4, 40, columnsMIPS},
	// n32: the registers are those of n64, only pointers are short.
	{elf.EM_MIPS, elf.ELFCLASS32, 8, 34, columnsMIPS64},
	{elf.EM_SPARCV9, elf.ELFCLASS64, 8, 33, columnsSPARC64},
	{elf.EM_SPARC, elf.ELFCLASS32, 4, 33, columnsSPARC},
	{elf.EM_SPARC32PLUS, elf.ELFCLASS32, 4, 33, columnsSPARC},
	{elf.EM_68K, elf.ELFCLASS32, 4, 18, columnsM68K},
}

// layoutOf returns the layout of a machine, nil where it is not known.
func layoutOf(m *arch.Machine) *registerLayout {
	for i := range registerLayouts {
		if l := &registerLayouts[i]; l.machine == m.ELF && l.class == m.Class && l.width == m.RegisterSize {
			return l
		}
	}
	return nil
}

// arch/x86/include/asm/user_64.h, struct user_regs_struct: r15 r14 r13 r12 rbp
// rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base
// gs_base ds es fs gs. Columns: psABI amd64, Figure 3.36.
var columnsX8664 = []uint8{
	15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, none,
	16, 51, 49, 7, 52, 58, 59, 53, 50, 54, 55,
}

// arch/x86/include/asm/user32.h, struct user_regs_struct32: ebx ecx edx esi edi
// ebp eax ds es fs gs orig_eax eip cs eflags esp ss. Columns: psABI i386,
// Table 2.14.
var columnsI386 = []uint8{
	3, 1, 2, 6, 7, 5, 0, 43, 40, 44, 45, none,
	8, 41, 9, 4, 42,
}

// arch/arm64/include/uapi/asm/ptrace.h, struct user_pt_regs: x0 to x30, sp, pc,
// pstate. Columns: DWARF for the Arm 64-bit Architecture, §4.1.
var columnsARM64 = []uint8{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	32, none,
}

// arch/arm/include/uapi/asm/ptrace.h, struct pt_regs: r0 to r15, cpsr, ORIG_r0.
// Columns: DWARF for the Arm Architecture, §4.1.
var columnsARM = []uint8{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	none, none,
}

// arch/riscv/include/uapi/asm/ptrace.h, struct user_regs_struct: pc, then x1 to
// x31. Columns: RISC-V psABI, "DWARF register numbers".
var columnsRISCV = []uint8{
	none, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
}

// arch/powerpc/include/uapi/asm/ptrace.h and elf.h, ELF_NGREG of struct pt_regs:
// r0 to r31, nip, msr, orig_r3, ctr, link, xer, ccr, softe (of 32 bits mq), trap,
// dar, dsisr, result, dscr, and three that are not used. Columns: OpenPOWER ELFv2
// ABI §2.4; compilers call the whole condition register cr2 where they save it.
var columnsPower = []uint8{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	none, none, none, 66, 65, 76, 70, none, none, none, none, none,
	none, none, none, none,
}

// arch/s390/include/uapi/asm/ptrace.h, s390_regs: the mask and the address of
// the PSW, r0 to r15, a0 to a15 of four bytes each, orig_gpr2. Columns: ELF ABI
// s390x Supplement, "DWARF register numbers".
var columnsS390X = []uint8{
	64, 65, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	none, none, none, none, none, none, none, none, none,
}

// The same of 31 bits, s390_compat_regs of arch/s390/include/asm/compat.h: its
// access registers have columns, and four bytes of padding follow, as the PSW is
// aligned to eight.
var columnsS390 = []uint8{
	64, 65, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, none, none,
}

// arch/mips/include/asm/elf.h and uapi/asm/reg.h, 45 registers of o32: six words
// that are not used, r0 to r31, lo, hi, epc, badvaddr, status, cause. Columns are
// gcc's: hi before lo.
var columnsMIPS = []uint8{
	none, none, none, none, none, none,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	65, 64, none, none, none, none, none,
}

// The same of n64 and n32, where the words that are not used come last.
var columnsMIPS64 = []uint8{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	65, 64, none, none, none, none, none,
	none, none, none, none, none, none,
}

// arch/sparc/include/asm/elf_64.h, ELF_NGREG: g0 to g7, o0 to o7, l0 to l7, i0 to
// i7, tstate, tpc, tnpc, y. Columns are gcc's.
var columnsSPARC64 = []uint8{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	none, none, none, none,
}

// arch/sparc/include/asm/elf_32.h: the same with psr, pc, npc, y, wim, tbr.
var columnsSPARC = append(columnsSPARC64[:36:36], none, none)

// arch/m68k/include/asm/elf.h, ELF_CORE_COPY_REGS: d1 to d7, a0 to a6, d0, usp,
// orig_d0, sr, pc, the frame's format and vector. Columns are gcc's.
var columnsM68K = []uint8{
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 15,
	none, none, 24, none,
}
