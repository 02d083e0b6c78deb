// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package target

import (
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
