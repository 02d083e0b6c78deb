// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stacktest

import (
	"debug/elf"

	"golang.org/x/sys/unix"
)

const (
	breakpoint = "\x00\x00\x20\xd4" // brk #0
	// The PLT pushes 16 bytes before it jumps to glibc's _dl_runtime_resolve, whose table lacks them.
	environment = "LD_BIND_NOW=1"
)

// registers are the registers of a stopped thread.
type registers struct{ unix.PtraceRegsArm64 }

func (r *registers) read(pid int) error {
	return unix.PtraceGetRegSetArm64(pid, int(elf.NT_PRSTATUS), &r.PtraceRegsArm64)
}

func (r *registers) pc() uint64 { return r.Pc }

// jump sets the program counter of the thread.
func (r *registers) jump(pid int, pc uint64) error {
	r.Pc = pc
	return unix.PtraceSetRegSetArm64(pid, int(elf.NT_PRSTATUS), &r.PtraceRegsArm64)
}

// columns returns the registers in DWARF's order (AADWARF64 §4.1): x0 to x30, sp.
func (r *registers) columns() []uint64 { return append(r.Regs[:], r.Sp) }
