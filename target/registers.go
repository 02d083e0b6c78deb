// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/unwind"
)

// ErrNoLayout is wrapped by the error of GeneralRegisters for a machine whose
// layout it does not know.
var ErrNoLayout = errors.New("layout of the general registers is not known")

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
	{elf.EM_PPC64, elf.ELFCLASS64, 8, 32, columnsPPC64},
	{elf.EM_S390, elf.ELFCLASS64, 8, 1, columnsS390X},
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
// r0 to r31, nip, msr, orig_r3, ctr, link, xer, ccr, softe, trap, dar, dsisr,
// result, dscr, and three that are not used. Columns: OpenPOWER ELFv2 ABI §2.4;
// compilers call the whole condition register cr2 where they save it.
var columnsPPC64 = []uint8{
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

// columnsS390XFloat are those of f0 to f15, in which functions of s390x save
// general registers: the same supplement.
var columnsS390XFloat = []uint8{16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31}

// FloatRegisters adds to *r those floating-point registers of the register set
// NT_PRFPREG that a walk can need: of s390x, whose functions save general
// registers in them. Of other machines, and of data of another size, it adds none.
func FloatRegisters(r *unwind.Registers, m *arch.Machine, data []byte) {
	const size = 8 + 16*8 // arch/s390/include/uapi/asm/ptrace.h, s390_fp_regs
	if m.ELF != elf.EM_S390 || m.Class != elf.ELFCLASS64 || len(data) != size {
		return
	}
	for i, column := range columnsS390XFloat {
		r.Set(uint64(column), m.Order.Uint64(data[8+8*i:]))
	}
}

// ThreadPointer adds to *r the register that leads to the thread's own storage, of the
// register set NT_ARM_TLS: tpidr_el0 of arm64. Of other machines it adds none; there it
// is a general register.
func ThreadPointer(r *unwind.Registers, m *arch.Machine, data []byte) {
	// DWARF for the Arm 64-bit Architecture, §4.1.
	const tpidrEL0 = 36
	if m.ELF == elf.EM_AARCH64 && m.Class == elf.ELFCLASS64 && len(data) >= 8 {
		r.Set(tpidrEL0, m.Order.Uint64(data))
	}
}

// VectorRegister returns the 16 bytes of a vector register, by its DWARF column, of
// a Thread's Vectors, in the machine's byte order. It returns false for other
// columns, for machines whose layout is not known, and for data of another size.
// The slice is the caller's.
func VectorRegister(m *arch.Machine, data []byte, column uint64) ([]byte, bool) {
	if m == nil {
		return nil, false
	}
	var first, count uint64 // columns
	var start, size int     // bytes
	switch {
	case m.ELF == elf.EM_X86_64:
		// arch/x86/include/asm/user_64.h, user_i387_struct: xmm0 to xmm15.
		first, count, start, size = 17, 16, 160, 512
	case m.ELF == elf.EM_AARCH64:
		// arch/arm64/include/uapi/asm/ptrace.h, user_fpsimd_state: v0 to v31.
		first, count, start, size = 64, 32, 0, 528
	}
	i := column - first
	if i >= count || len(data) != size {
		return nil, false
	}
	return bytes.Clone(data[start+16*int(i):][:16]), true
}

// GeneralRegisters sets *r to the registers that data holds in the layout of
// Linux's NT_PRSTATUS register set: what PTRACE_GETREGSET gives, or a core's
// pr_reg. Data has the machine's byte order. On an error *r is left as it was.
func GeneralRegisters(r *unwind.Registers, m *arch.Machine, data []byte) error {
	for i := range registerLayouts {
		l := &registerLayouts[i]
		if l.machine != m.ELF || l.class != m.Class {
			continue
		}
		// A thread of an x86-64 process that runs 32-bit code (a far jump,
		// as Wine does) shows the shorter set of i386.
		if want := l.width * len(l.columns); len(data) != want {
			return fmt.Errorf("general registers: %d bytes, where %s has %d", len(data), m.Name, want)
		}
		*r = unwind.Registers{}
		for i, column := range l.columns {
			var v uint64
			if l.width == 4 {
				v = uint64(m.Order.Uint32(data[4*i:]))
			} else {
				v = m.Order.Uint64(data[8*i:])
			}
			if column != none {
				r.Set(uint64(column), v)
			}
			if i == l.pc {
				r.PC = v
			}
		}
		return nil
	}
	return fmt.Errorf("general registers of %s: %w", m.Name, ErrNoLayout)
}
