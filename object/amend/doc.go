// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package amend adds the unwind tables of functions to an ELF file.
//
// An object file (.o) gets entries in .eh_frame, with the relocations that let a linker place
// them. They then serve everything that compiled tables do: exceptions, backtraces, debuggers.
//
// A linked file gets entries in .debug_frame, which debuggers and Clew read. No segment loads this
// section, so exceptions do not pass through the functions. An .eh_frame would need a new segment,
// and a new .eh_frame_hdr with all entries: link the file again from amended object files instead.
//
// The other sections of the file keep their bytes and their numbers. Only relocations of an
// object file can change, because its symbol table may get symbols of sections.
//
// The package never writes to the file itself, and runs no other program.
package amend
