// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset

import (
	"slices"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// CPythonPerf returns the table that CPython gives perf for its trampolines: the code
// sets up a frame pointer at its start, in the form of CPython's compiler. landing says
// that CPython was built for CET, with endbr64 first (amd64).
//
// CPython writes it with EHFrame for a section at PerfAddress.
func CPythonPerf(m *arch.Machine, landing bool) (*cfi.Program, error) {
	known := machineOf(m)
	b := cfi.NewBuilder(cfi.EntryCIE(m))
	if m != nil && (known == nil || !known.cpython(b, landing)) {
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
	if known := machineOf(m); known != nil {
		shim := known.shim
		shim.Saved = slices.Clone(shim.Saved)
		return shim, nil
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
