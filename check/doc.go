// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package check reports where an unwind table is wrong. File and Section compare each row of
// call frame information with the code that the row describes. Run, Session and Trace
// compare the frames that the tables give during an execution with the true ones.
//
// The analysis of File and Section follows the paths through a function from its entry, and
// notes where the CFA is, which registers still have the caller's values, and where the
// others are saved. At each instruction it compares this state with the row: the rule of the
// CFA must yield the CFA, and the rules of the preserved registers and of the return address
// must yield their values at the entry. On arm64 the row also says whether the return address
// is signed. The result for an instruction is Agree, Disagree or Undecided. A Finding shows a
// path to the first instruction with a wrong row, with the state on it.
//
// # What a verdict means
//
// Agree means that the row is right on every path that the analysis found. Disagree means
// that the row is wrong on all of these paths. Both assume that the code keeps to its
// calling convention:
//
//   - Calls preserve the registers that the psABI says, and return to the next instruction
//     or not at all.
//   - Only instructions that address the saved registers of a frame by the stack pointer, or
//     by a copy of it at a known distance, write them. Stores through an index or another
//     pointer do not.
//   - The functions of Go programs preserve no register, and most of their rows stay
//     undecided.
//   - A jump table is where the code that reads it says. It has the length that the code
//     compares the index with just before. Without a comparison it ends at the first entry
//     that does not lead to an instruction of the function, and no finding rests on it. The
//     same holds for a table whose address the code has read back from the frame.
//   - On arm64, the stack pointer that signs a return address is the CFA, as unwinders expect.
//
// Undecided comes with a Reason. A result that depends on a guess is never Agree. Code that
// no path reaches is undecided, except for the padding between blocks.
//
// A rule may change later than the code while it still yields the right value. After a push,
// for example, the register itself still has the value. This is not a defect.
//
// # Making tables
//
// Synthesize makes the table of a function from its bytes, by the same analysis. A Synthesizer
// does so for the functions of a program, and Complete for the functions of a jit.Code whose
// author gives no table. An instruction that would be undecided gets no row, but a Gap.
//
// # What it never does
//
// File, Section and Synthesize run no code. They bound the work for each function by the function's
// size; code beyond the limits is undecided. The package writes no file.
package check
