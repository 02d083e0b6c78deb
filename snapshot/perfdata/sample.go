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

// SampleType is the set of fields of a sample: PERF_SAMPLE_* of
// include/uapi/linux/perf_event.h.
type SampleType uint64

// The fields up to the user stack, and the identifier.
const (
	FieldIP          SampleType = 1 << 0
	FieldTID         SampleType = 1 << 1
	FieldTime        SampleType = 1 << 2
	FieldAddr        SampleType = 1 << 3
	FieldRead        SampleType = 1 << 4
	FieldCallchain   SampleType = 1 << 5
	FieldID          SampleType = 1 << 6
	FieldCPU         SampleType = 1 << 7
	FieldPeriod      SampleType = 1 << 8
	FieldStreamID    SampleType = 1 << 9
	FieldRaw         SampleType = 1 << 10
	FieldBranchStack SampleType = 1 << 11
	FieldUserRegs    SampleType = 1 << 12
	FieldUserStack   SampleType = 1 << 13
	FieldIdentifier  SampleType = 1 << 16
)

// trailerFields are those of the SampleID of records other than samples.
const trailerFields = FieldTID | FieldTime | FieldID | FieldStreamID | FieldCPU | FieldIdentifier

// Sample is the state of a thread at an event: SAMPLE. Record.ID has the thread and the
// time. A field that Attribute.SampleType lacks is zero. Record.Raw also has the fields that
// Sample lacks: counts, branches, and the fields after the user stack.
type Sample struct {
	Fields SampleType // the fields that could be read

	IP     uint64 // address of the instruction
	Addr   uint64 // address of the data, or another value that the event has
	Period uint64 // number of events that this sample stands for; Attribute.Period if samples lack it

	// Callchain holds addresses, innermost first. Markers between them, such as
	// ContextKernel, give the mode of the addresses that follow. All addresses of a mode
	// except the first one are return addresses.
	Callchain []uint64

	Raw []byte // the fields of a tracepoint, perhaps with padding at the end

	UserRegs RegisterSet // of the thread in user mode

	// UserStack is a copy of the thread's user stack from the stack pointer upward.
	// It is shorter than perf record asked for if the stack ends, or if the record would have
	// been too long.
	UserStack []byte
}

// Markers in call chains: enum perf_callchain_context. No number from ContextMax on is an
// address.
const (
	ContextHypervisor   uint64 = 1<<64 - 32
	ContextKernel       uint64 = 1<<64 - 128
	ContextUser         uint64 = 1<<64 - 512
	ContextUserDeferred uint64 = 1<<64 - 640 // a cookie follows: see Deferred
	ContextGuest        uint64 = 1<<64 - 2048
	ContextGuestKernel  uint64 = 1<<64 - 2176
	ContextGuestUser    uint64 = 1<<64 - 2560
	ContextMax          uint64 = 1<<64 - 4095
)

// ABI is the width of registers: enum perf_sample_regs_abi.
type ABI uint64

const (
	ABINone ABI = 0 // no registers: a kernel thread
	ABI32   ABI = 1
	ABI64   ABI = 2
)

// RegisterSet is a set of a thread's registers by perf's numbers: the enum of
// arch/*/include/uapi/asm/perf_regs.h. It leaves out the vector registers of
// PERF_SAMPLE_REGS_ABI_SIMD.
type RegisterSet struct {
	ABI    ABI
	Mask   uint64   // the registers: bit n for number n
	Values []uint64 // of the bits of Mask, the lowest first; empty with ABINone
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
