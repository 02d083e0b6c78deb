// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset

import (
	"debug/elf"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// CPythonPerf returns the table that CPython gives perf for its trampolines: the code
// sets up a frame pointer at its start, in the form of CPython's compiler. landing says
// that CPython was built for CET, with endbr64 first (amd64).
//
// CPython writes it with EHFrame for a section at PerfAddress.
func CPythonPerf(m *arch.Machine, landing bool) (*cfi.Program, error) {
	b := cfi.NewBuilder(cfi.EntryCIE(m))
	switch {
	case m == nil:
	case m.ELF == elf.EM_AARCH64 && !landing:
		b.At(4).DefCFAOffset(16).Offset(x29, -16).Offset(x30, -8)
		// The frame pointer is restored at once: the body is a single call.
		b.At(16).DefCFARegister(x29).Restore(x30).Restore(x29).DefCFA(sp, 0)
	case m.ELF == elf.EM_X86_64:
		start := uint64(0)
		if landing {
			// CPython writes this advance although no rule follows it.
			b.Instruction(cfi.Instruction{Op: cfi.CFAAdvanceLoc, Operand: 4})
			start = 4
		}
		b.At(start+1).DefCFAOffset(16).Offset(rbp, -16)
		b.At(start + 4).DefCFARegister(rbp)
		b.At(start+7).DefCFA(rsp, 8)
	default:
		return nil, refuse("CPython has no table for perf on %s", m.Name)
	}
	return b.Program()
}

// Shim is the state in which CPython's compiled JIT code runs. CPython reads it from its
// compiled shim.
type Shim struct {
	CodeAlign     uint64
	DataAlign     int64
	ReturnAddress uint64 // column

	// The CFA is the value of CFARegister plus CFAOffset.
	CFARegister uint64
	CFAOffset   int64

	Saved []Saved
}

// CPythonShim returns the Shim of CPython when built with Debian's compilers.
func CPythonShim(m *arch.Machine) (Shim, error) {
	if m == nil {
		return Shim{}, refuse("no machine")
	}
	switch m.ELF {
	case elf.EM_X86_64:
		return Shim{1, -8, rip, rbp, 16, []Saved{{rbp, -16}, {rip, -8}}}, nil
	case elf.EM_AARCH64:
		return Shim{4, -8, x30, x29, 96, []Saved{{x29, -96}, {x30, -88}}}, nil
	}
	return Shim{}, refuse("CPython has no JIT shim for %s", m.Name)
}

// CPythonGDB returns the table that CPython gives gdb for its JIT code: the steady state
// of a Shim, in the CIE, and absolute addresses, so that its .eh_frame may be anywhere.
func CPythonGDB(m *arch.Machine, s Shim) (*cfi.Program, error) {
	cie := cfi.NewCIE(m)
	cie.CodeAlign, cie.DataAlign, cie.ReturnAddress = s.CodeAlign, s.DataAlign, s.ReturnAddress
	cie.Augmentation, cie.PointerEncoding = "zR", cfi.EncAbsptr
	return Steady(cie, s.CFARegister, s.CFAOffset, s.Saved...)
}
