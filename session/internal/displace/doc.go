// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package displace makes code that has the effect of one instruction at another address, and then
// continues where that instruction would have continued. With it a debugger lets a worker pass a
// breakpoint while the trap remains: it sets the worker's program counter to the code, and the worker
// continues after the breakpoint, or at the target, without a stop. The code has no state of the worker,
// so several workers may run it at the same time.
//
// Registers, flags and memory are the same as after the original, bit by bit. Make returns an error for
// an instruction for which this is not possible. If a worker stops in the code because of a fault, a
// step or an interrupt, Slot.Points has the corresponding state of the original.
//
// These differences remain. After an x87 instruction, the last instruction pointer that FNSTENV and
// FXSAVE store is the address of the copy. A call through memory that reads the word that it pushes, by
// a register other than rsp, reads the return address. If both its operand and its push fault, the fault
// of the push comes first. Shadow stacks (CET, GCS) do not see the calls. The pages of slots must be
// readable as well as executable, and must not be mapped with PROT_BTI: calls become branches, and an
// indirect branch from an unguarded page may enter every landing pad (Arm ARM D8.4.5).
//
// The package works on bytes for any host: it reads no memory, runs nothing, and knows of no process.
// All functions may be called from several goroutines.
package displace
