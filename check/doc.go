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
// Agree means that the row is right on every path to the instruction. Disagree means
// that the row is wrong on all of the paths that certainly exist. Both assume that the code keeps to
// its calling convention:
//
//   - Calls preserve the registers that the psABI says, and return to the next instruction
//     or not at all. A call that ends the code of a function does not return, nor does one of a
//     function of the standard libraries that is known for it, or whose debug information has
//     DW_AT_noreturn.
//   - A jump to the entry of another function is a call of it, in its caller's place.
//   - Only instructions that address the saved registers of a frame by the stack pointer, or
//     by a copy of it at a known distance, write them. Stores through an index or another
//     pointer do not.
//   - The functions of Go programs preserve no register, and most of their rows stay
//     undecided.
//   - On arm64, the stack pointer that signs a return address is the CFA, as unwinders expect.
//
// # Guesses
//
// A result that depends on a guess is Undecided, and its Reason names the guess:
//
//   - Guessed: the paths to the instruction lead through a jump table whose length is a guess. A table
//     is where the code that reads it says. Its length is known if the code compares the
//     index with it straight before, or bounds the index in another way and all entries lead to
//     instructions of the function, or if the next table of the program starts where its
//     entries end. Else its end is a guess: the first entry that does not lead to an
//     instruction. The address is a guess if the code has read it back from the frame.
//     A finding rests on no table but one whose index is compared with its length.
//     Nor does it rest on a path into the cold part of another function, which is probably never taken.
//   - MayNotReturn: the row is wrong if a call returns that leads there. No path through
//     the called function proves that it does not.
//   - OpenJump: the function jumps, with its frame, to an address that the analysis does not know.
//     That may be any of its instructions.
//
// A guess spreads: instructions that follow are undecided for the same Reason. Undecided has more
// Reasons, without any guess. Code that no path reaches is undecided, except for the padding between
// blocks. Code may save a preserved register outside of its frame: in a global variable, for
// example, or in a vector register. Values that it loads from outside afterwards are not known.
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
