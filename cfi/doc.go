// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package cfi reads and writes call frame information: the tables in which
// compilers describe, for every address of code, where the caller's registers are
// (DWARF 5 §6.4, and the LSB's .eh_frame and .eh_frame_hdr).
//
// A [Section] holds the bytes. [Section.Entries] yields its CIEs and FDEs,
// [Section.FDEs] the FDEs alone. An [Interpreter] executes the instructions of
// an FDE and yields its [Row] values; a row's rules that are DWARF expressions
// are evaluated by an [Evaluator] over the registers and the memory of a
// [Frame]. The FDE of one address is found by a [Header], where there is an
// .eh_frame_hdr, or by an [Index].
//
// A [Builder] makes the table of a function in the terms of an assembler's .cfi
// directives: a [Program], which does not depend on where the function lies. An
// [Encoder] writes programs, and entries that were decoded, to a section, with
// one CIE for all that can share it, and the .eh_frame_hdr beside it. Package
// preset has the tables that most generated code needs.
//
// Addresses are those of the file, without load bias, unless a name says
// otherwise. A section's bytes come from outside and are not trusted: whatever
// they hold costs an error that says where, for the entry concerned alone, and
// time and memory in proportion to the section. Loops over FDEs and rows
// allocate nothing.
//
// Package cfi opens no file, finds no section, and applies no relocation (package
// object does); it reads no process, and knows a machine only as a row of
// package arch; it recovers no registers (package unwind does).
package cfi
