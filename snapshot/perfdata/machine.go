// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata

import (
	"debug/elf"
	"math/bits"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/unwind"
)

// machine returns the machine of a name that uname -m prints, or nil if it is unknown.
// The recording gives the byte order, because the name need not imply it.
func machine(name string, big bool) *arch.Machine {
	if big {
		return arch.LookupUname(name, elf.ELFDATA2MSB)
	}
	return arch.LookupUname(name, elf.ELFDATA2LSB)
}

// Registers sets *regs to the registers of the set and returns the machine of their DWARF
// columns: m, or its 32-bit variant for ABI32 (i386 of x86-64, arm of arm64). It returns
// nil and does not change *regs if the set lacks a program counter, or if perf's numbers
// for the machine are not known.
func (s *RegisterSet) Registers(m *arch.Machine, regs *unwind.Registers) *arch.Machine {
	if s.ABI == ABINone || m == nil {
		return nil
	}
	if s.ABI == ABI32 && m.Class == elf.ELFCLASS64 {
		if m = m.CompatibleMachine(); m == nil {
			return nil
		}
	}
	set := m.Perf
	if set == nil || s.Mask>>set.PC&1 == 0 {
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
		if n == set.PC {
			regs.PC = v
		}
		if n < len(set.Columns) && set.Columns[n] != arch.NoColumn {
			regs.Set(uint64(set.Columns[n]), v)
		}
	}
	return m
}
