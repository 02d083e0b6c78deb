// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package cfi reads and writes call frame information: the tables in which
// compilers describe, for every address of code, where the caller's registers are
// (DWARF 5 §6.4, and the LSB's .eh_frame and .eh_frame_hdr).
//
// A [Section] contains the bytes. [Section.Entries] yields its CIEs and FDEs, [Section.FDEs]
// only the FDEs. An [Interpreter] executes the instructions of an FDE and yields its [Row]
// values. An [Evaluator] evaluates rules that are DWARF expressions, with the registers and
// the memory of a [Frame]. A [Header], of an .eh_frame_hdr, or an [Index] finds the FDE of an
// address.
//
// A [Builder] makes the table of a function, with methods like an assembler's .cfi directives.
// The result is a [Program], which is independent of the function's address. An [Encoder]
// writes programs and decoded entries to a section, which share CIEs if possible, and the
// section's .eh_frame_hdr. Package preset has the tables that most generated code needs.
//
// Addresses are those of the file, without load bias, unless documented otherwise. A section's
// bytes are not trusted. A malformed entry gives an error with its place and does not affect
// other entries. Time and memory are proportional to the size of the section. Loops over FDEs
// and rows allocate nothing.
//
// Package object opens files, finds sections and applies relocations. Package unwind recovers
// registers. Package cfi does none of these, and accesses no processes.
package cfi
