// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package region describes generated code by regions and operations: the model
// of libunwind's dynamic unwind information, libunwind-dynamic(3), in which a
// code generator says what its instructions do to the frame instead of what
// the frame looks like after each.
//
// A [Procedure] is a contiguous piece of code and a list of regions. A [Region]
// is a number of instructions, most often a prologue or an epilogue, and the
// [Op]s that say which of them move the stack pointer, save a register, or undo
// what earlier regions did. The state of the frame at the end of a region is
// that at the start of the next. Lists and their tails can be shared: procedures
// with a canned prologue and epilogue are described by two regions, the second
// measured from the end.
//
//	epilogue := &region.Region{Count: -2, Ops: []region.Op{region.PopFrames(0, 1)}}   // pop rbp; ret
//	prologue := &region.Region{Count: 4, Next: epilogue, Ops: []region.Op{
//		region.Add(0, rsp, -8), region.SpillSPRel(0, rbp, 0),                     // push rbp
//		region.SaveReg(3, rsp, rbp),                                              // mov rbp, rsp
//	}}
//
// [Procedure.Program] turns it into call frame information, which every
// unwinder understands; libunwind itself reads regions on Itanium only.
//
// # Indexes of instructions
//
// Counts and Op.When are in units of the machine: on arm64 an instruction of
// four bytes, on amd64 a byte. An effect has taken place once the unit When has
// been executed, so with When = w it holds from unit w+1 of the region on. On
// amd64 any byte of the instruction serves, as no program counter points into
// the middle of one; the last byte is exact, and what [After] returns. -1 is
// before the first instruction.
//
// # The frame
//
// At a procedure's first instruction the frame is that of a call. From there on
// the CFA stays where it is, and the operations move the rest:
//
//   - Add to the stack pointer moves it. Slots that lie in what it gives back
//     are void, and the registers saved there have been restored.
//   - SaveReg of the stack pointer in a register makes that one the frame
//     pointer: the CFA is found through it, until it is restored. SaveReg of the
//     frame pointer in the stack pointer gives back all below it. A lea is a
//     SaveReg and an Add at one instruction.
//   - SaveReg of another register, SpillSPRel and SpillFPRel say where the
//     caller's value of a register is from there on. SaveReg the other way round
//     restores it. Offsets are from what the pointer holds at that instruction,
//     after the operations listed before; push is an Add and a SpillSPRel.
//   - A region that lowers the stack pointer, makes a frame pointer or spills a
//     register sets up a stack frame. PopFrames undoes the last n of these: the
//     frame is what it was before the oldest of them. Registers that were saved
//     in registers stay there up to the end of the region, as
//     libunwind-dynamic(3) has it, so that instructions that restore them need
//     no description.
//   - LabelState names the state, CopyState brings it back.
//   - Alias says that the region is a copy of code that another procedure
//     describes.
//
// Package region reads no memory: package jit/libunwind has the layout that
// such descriptions have in a process. It follows no instruction either, and
// believes what the operations say as far as they do not contradict each other.
package region
