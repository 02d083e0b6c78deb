// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package snapshot

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/unwind"
)

// ErrNoLayout is wrapped by the error of GeneralRegisters for a machine with an unknown
// register layout.
var ErrNoLayout = errors.New("the layout of the general registers is not known")

// FloatRegisters adds to *r those floating-point registers of the register set
// NT_PRFPREG in which functions of the machine save general registers. It adds none for
// other machines, and for data of another size.
func FloatRegisters(r *unwind.Registers, m *arch.Machine, data []byte) {
	if m.Floats != nil && len(data) == m.Floats.Size() {
		setRegisters(r, m, m.Floats, data)
	}
}

// ThreadPointer adds the register of the register set NT_ARM_TLS to *r. It points to
// the thread's own storage. ThreadPointer adds nothing on machines where a general
// register points there.
func ThreadPointer(r *unwind.Registers, m *arch.Machine, data []byte) {
	if m.ThreadRegister != 0 && len(data) >= 8 {
		r.Set(uint64(m.ThreadRegister), m.Order.Uint64(data))
	}
}

// VectorRegister returns the bytes of a vector register, by its DWARF column, of a
// Thread's Vectors, in the machine's byte order. It returns false for other columns,
// for machines with an unknown layout, and for data of another size. The caller owns
// the slice.
func VectorRegister(m *arch.Machine, data []byte, column uint64) ([]byte, bool) {
	if m == nil || m.Vectors == nil {
		return nil, false
	}
	v := m.Vectors
	i := column - v.First
	if i >= v.Count || len(data) != v.Size {
		return nil, false
	}
	return bytes.Clone(data[v.Start+v.Width*int(i):][:v.Width]), true
}

// GeneralRegisters sets *r to the registers in data, which has the layout of Linux's
// NT_PRSTATUS register set: the result of PTRACE_GETREGSET, or a core's pr_reg. Data
// has the machine's byte order. An error leaves *r unchanged.
func GeneralRegisters(r *unwind.Registers, m *arch.Machine, data []byte) error {
	if m.General == nil {
		return fmt.Errorf("general registers of %s: %w", m.Name, ErrNoLayout)
	}
	// A thread of an x86-64 process that runs 32-bit code (after a far jump, as in Wine)
	// has the shorter set of i386.
	if want := m.General.Size(); len(data) != want {
		return fmt.Errorf("general registers: %d bytes, expected %d for %s", len(data), want, m.Name)
	}
	*r = unwind.Registers{}
	setRegisters(r, m, m.General, data)
	return nil
}

// setRegisters sets the registers of a set. Data must have the size of the set.
func setRegisters(r *unwind.Registers, m *arch.Machine, set *arch.RegisterSet, data []byte) {
	for i, column := range set.Columns {
		v := m.Uint(data[set.Width*i:][:set.Width])
		if column != arch.NoColumn {
			r.Set(uint64(column), v)
		}
		if i == set.PC {
			r.PC = v
		}
	}
}
