// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package preset

import (
	"fmt"
	"io"
	"slices"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// CPythonPerf returns the table that CPython gives perf for its trampolines: the code
// sets up a frame pointer at its start, in the form of CPython's compiler. landing says
// that CPython was built for CET, with endbr64 first (amd64).
//
// To get the section that CPython writes, call [EHFrame] with the address that
// [PerfAddress] returns.
func CPythonPerf(m *arch.Machine, landing bool) (*cfi.Program, error) {
	known := machineOf(m)
	b := cfi.NewBuilder(cfi.EntryCIE(m))
	if m != nil && (known == nil || !known.cpython(b, landing)) {
		return nil, misuse("CPython has no table for perf on %s", m.Name)
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
		return Shim{}, misuse("no machine")
	}
	if known := machineOf(m); known != nil {
		shim := known.shim
		shim.Saved = slices.Clone(shim.Saved)
		return shim, nil
	}
	return Shim{}, misuse("CPython has no JIT shim for %s", m.Name)
}

// CPythonGDB returns the table that CPython gives gdb for its JIT code: the steady state
// of a Shim, in the CIE, and absolute addresses, so that its .eh_frame may be anywhere.
func CPythonGDB(m *arch.Machine, s Shim) (*cfi.Program, error) {
	cie := cfi.NewCIE(m)
	cie.CodeAlign, cie.DataAlign, cie.ReturnAddress = s.CodeAlign, s.DataAlign, s.ReturnAddress
	cie.Augmentation, cie.PointerEncoding = "zR", cfi.EncAbsptr
	return Steady(cie, s.CFARegister, s.CFAOffset, s.Saved...)
}

// EHFrame writes the .eh_frame of one function, a CIE and an FDE without a terminator, to a
// buffer, for the size bytes of code from address start on. address is the address of the
// section, which matters if the program's CIE stores relative pointers.
//
// It returns the size of the section in bytes. If buffer is nil, it does nothing else.
// If buffer is too small, it is unchanged and the error wraps io.ErrShortBuffer.
func EHFrame(buffer []byte, p *cfi.Program, start, size, address uint64) (n int, err error) {
	if p == nil || p.CIE == nil || p.CIE.Section == nil {
		return 0, misuse("no program")
	}
	e := cfi.Encoder{Machine: p.CIE.Section.Machine, Address: address}
	if err := e.Program(p, start, size); err != nil {
		return 0, err
	}
	n = len(e.Data)
	if buffer != nil && len(buffer) < n {
		return n, fmt.Errorf("preset: %w: an .eh_frame of %d bytes does not fit a buffer of %d", io.ErrShortBuffer, n, len(buffer))
	}
	copy(buffer, e.Data)
	return n, nil
}

// PerfAddress returns the address at which perf inject puts the .eh_frame of the given
// code: the next multiple of eight bytes after the code.
func PerfAddress(start, size uint64) uint64 { return start + (size+7)&^7 }
