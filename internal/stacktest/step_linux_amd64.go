// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stacktest

import "golang.org/x/sys/unix"

const (
	breakpoint  = "\xcc" // int3
	environment = "LD_BIND_NOW="
)

// registers are the registers of a stopped thread.
type registers struct{ unix.PtraceRegs }

func (r *registers) read(pid int) error { return unix.PtraceGetRegs(pid, &r.PtraceRegs) }

func (r *registers) pc() uint64 { return r.Rip }

// jump sets the program counter of the thread.
func (r *registers) jump(pid int, pc uint64) error {
	r.Rip = pc
	return unix.PtraceSetRegs(pid, &r.PtraceRegs)
}

// columns returns the registers in DWARF's order (psABI amd64, figure 3.36).
func (r *registers) columns() []uint64 {
	return []uint64{r.Rax, r.Rdx, r.Rcx, r.Rbx, r.Rsi, r.Rdi, r.Rbp, r.Rsp, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
}
