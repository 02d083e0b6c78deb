// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package region describes generated code by regions and operations, the model of
// libunwind's dynamic unwind information, libunwind-dynamic(3). A code generator describes
// the effects of its instructions on the frame, not the frame after each instruction.
//
// A [Procedure] is a contiguous piece of code and a list of regions. A Region is a sequence
// of instructions, most often a prologue or an epilogue, with its [Op]s: which instructions
// move the stack pointer, save a register, or undo effects of earlier regions. The frame's
// state at the end of a region is the state at the start of the next. Lists can share tails:
// two regions, the second measured from the end, describe all procedures with the same
// prologue and epilogue.
//
//	epilogue := &region.Region{Count: -2, Ops: []region.Op{region.PopFrames(0, 1)}}   // pop rbp; ret
//	prologue := &region.Region{Count: 4, Next: epilogue, Ops: []region.Op{
//		region.Add(0, rsp, -8), region.SpillSPRel(0, rbp, 0),                     // push rbp
//		region.SaveReg(3, rsp, rbp),                                              // mov rbp, rsp
//	}}
//
// [Procedure.Program] converts a procedure to call frame information, which every unwinder
// understands; libunwind itself reads regions on Itanium only.
//
// # Indexes of instructions
//
// Region.Count and Op.When are in units of the machine: an instruction of four bytes on
// arm64, a byte on amd64. An effect takes place when unit When has been executed: with
// When = w it holds from unit w+1 of the region on. On amd64 any byte of the instruction
// works, because no program counter points into the middle of one; the last byte is
// exact, and is what [After] returns. -1 is before the first instruction.
//
// # The frame
//
// At a procedure's first instruction the frame is that of a call. From there on
// the CFA is fixed, and the operations change the rest:
//
//   - Add to the stack pointer moves it. Moving it up voids the slots that are freed;
//     the registers saved there count as restored.
//   - SaveReg of the stack pointer in a register makes that register the frame
//     pointer: the CFA is relative to it, until it is restored. SaveReg of the
//     frame pointer in the stack pointer frees everything below it. A lea is a
//     SaveReg and an Add at one instruction.
//   - SaveReg of another register, SpillSPRel and SpillFPRel say where the
//     caller's value of a register is saved. The reverse SaveReg restores it.
//     Offsets are relative to the value of the pointer at that instruction,
//     after the operations listed before; push is an Add and a SpillSPRel.
//   - A region that lowers the stack pointer, makes a frame pointer or spills a
//     register sets up a stack frame. PopFrames undoes the last n of these: the
//     frame is as it was before the oldest of them. Registers that were saved
//     in registers stay there up to the end of the region (libunwind-dynamic(3)),
//     so that the instructions that restore them need no description.
//   - LabelState names the state, CopyState restores it.
//   - Alias declares the region a copy of code that another procedure
//     describes.
//
// Package region reads no memory: package jit/libunwind knows the layout of such
// descriptions in a process. It does not decode instructions either. It trusts the
// operations as long as they do not contradict each other.
package region
