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

// machine returns the machine that uname -m calls by a name, nil for an unknown one.
// The name need not imply the byte order; the recording does.
func machine(name string, big bool) *arch.Machine {
	if big {
		return arch.LookupUname(name, elf.ELFDATA2MSB)
	}
	return arch.LookupUname(name, elf.ELFDATA2LSB)
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
