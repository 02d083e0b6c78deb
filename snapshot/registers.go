// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

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
	l := layoutOf(m)
	if l == nil {
		return fmt.Errorf("general registers of %s: %w", m.Name, ErrNoLayout)
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
