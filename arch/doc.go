// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package arch describes machines: the names and DWARF numbers of registers, the
// columns with a special meaning, widths, byte order, the alignment factors that
// compilers write, Linux's layouts of registers and signal frames, and the few
// instructions that call, return and make frames. Nothing here depends on the machine
// that the program runs on.
//
// A new machine needs one file with a row, and an entry for its list of rows in the
// function rows of table.go. All fields of a row except its name and numbers are
// optional: readers report a missing fact.
//
// The package never reads files, disassembles code (package arch/disasm does) or accesses
// registers.
//
// A column is a DWARF register number as .eh_frame uses it. Some ABIs number registers
// differently in .debug_frame (i386 on some systems, PowerPC's 32-bit psABI). For them
// the table has the numbers that GNU and LLVM compilers write on Linux.
package arch
