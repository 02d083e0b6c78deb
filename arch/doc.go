// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package arch holds what differs between machines as far as call frame
// information is concerned: the names and DWARF numbers of registers, the
// columns with a special meaning, widths, byte order, the alignment factors
// compilers write, and the few instructions that call, return and make frames.
// Each machine is a row of a table; nothing here depends on the machine the
// program runs on.
//
// The package never reads a file, disassembles code (package arch/disasm does) or
// touches a live register: it answers questions about numbers.
//
// A column is a DWARF register number as .eh_frame uses it. Where an ABI gives
// .debug_frame another numbering (i386 on some systems, PowerPC's 32-bit
// psABI) the table follows what GNU and LLVM compilers write on Linux.
package arch
