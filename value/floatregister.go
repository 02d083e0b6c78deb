// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package value

import (
	"debug/elf"
	"math"

	"github.com/clewdev/clew/arch"
)

// held returns the number that a register holds in its eight bytes n for a value of so
// many bits. Nearly all registers have it in their least significant bits. The
// floating-point registers of s390x have it in the most significant ones (s390x ELF ABI
// supplement, "DWARF register mapping": f0 to f15 are 16 to 31). Those of powerpc, 32 to
// 63, have a number of 4 bytes in the format of 8 (Power ISA §4.3.1).
func held(m *arch.Machine, column, n, bits uint64, isFloat bool) uint64 {
	switch {
	case bits >= 64:
	case m.ELF == elf.EM_S390 && column >= 16 && column < 32:
		n >>= 64 - bits
	case (m.ELF == elf.EM_PPC64 || m.ELF == elf.EM_PPC) && column >= 32 && column < 64 && isFloat && bits == 32:
		n = uint64(math.Float32bits(float32(math.Float64frombits(n))))
	}
	return n
}
