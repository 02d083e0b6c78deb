// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package displace makes code that does at another address what one instruction
// does where it stands, and then goes where that instruction would have gone.
// A debugger lets a worker pass a breakpoint with it while the trap stays in
// place: it sets the worker's program counter to the code, and the worker comes
// out behind the breakpoint (or at its target) without stopping. The code holds
// nothing of the worker that runs it, so many may run it at once.
//
// Registers, flags and memory are afterwards what the original would have left,
// bit by bit, where Make returns no error; an instruction for which that can't
// be done is an error. Where a worker stops on its way, because the instruction
// faults or somebody steps or interrupts it, Slot.Points tells which state of
// the original that is.
//
// These differences remain. An x87 instruction leaves the address of the copy
// as the last instruction pointer that FNSTENV and FXSAVE store. A call through
// memory that reads, by another register than rsp, the very word that it pushes
// reads the return address; where both its operand and its push fault, the
// push's fault comes first. Shadow stacks (CET, GCS) do not see the calls. The
// pages of slots must be readable as well as executable, and must not be mapped
// with PROT_BTI: an indirect branch from an unguarded page is good for every
// landing pad (Arm ARM D8.4.5), as calls become branches.
//
// The package works on bytes for any host: it reads no memory, runs nothing,
// and knows of no process. All functions may be called from several goroutines.
package displace
