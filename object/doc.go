// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package object opens an ELF file, or the image of one in the memory of a process, for
// unwinders, profilers and debuggers: it finds sections of call frame information, symbols,
// the build ID, the separate debug file, source lines, inlined calls, and the functions of
// Go's .gopclntab.
//
// The package reads lazily. A file is mapped, headers are decoded in place, and
// symbol tables are scanned in place for the addresses or the name that the caller
// asks for. Returned slices are views of the mapping unless the bytes need a change.
//
// No byte is trusted. A damaged part is skipped: the rest is read, and [File.Damage] returns
// the errors. The package reads headers, line tables and symbol tables itself. It does not
// use debug/elf, which refuses a whole file for one invalid section, and copies what it
// reads: a table of sections with overlapping names makes it allocate the square of the
// file's size. It does not use debug/dwarf, which sizes allocations by counts in the line
// table's header. Package value reads variables and types through [File.DebugReader].
//
// # Files that shrink
//
// Reading a mapped file that another program truncates raises SIGBUS, which kills a
// Go program. No check can be made beforehand, so the methods of [File] turn
// the fault into an error that wraps [ErrFault]. Code that reads a returned slice (a
// section's data, above all the Data of a [cfi.Section]) runs outside of these methods.
// The caller must run it under [Guard], which does the same. One Guard around a whole
// walk or a whole dump is enough.
//
// # What it never does
//
// The package never runs, writes or locks a file, and never follows a link out of a
// given root. It opens the named file only and, after [File.OpenDebugFile], the files
// with its debugging information.
package object
