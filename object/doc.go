// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package object opens an ELF file, or the image of one in the memory of a
// process, and finds in it what an unwinder and those who name frames need:
// sections of call frame information, symbols, the build ID, the separate
// debug file, source lines and inlined calls.
//
// Nothing is read before it is asked for. A file is mapped, headers are
// decoded where they lie, symbol tables are scanned in place for the few
// addresses or the one name that is wanted, and slices that are handed out are
// views of the mapping wherever the bytes need no change.
//
// Every byte is hostile. A damaged part costs that part: the rest is read, and
// [File.Damage] tells what was wrong. The package reads headers, line tables
// and symbol tables itself because debug/elf refuses a whole file for one bad
// section and copies what it reads (a table of sections whose names overlap
// makes it allocate the square of the file's size), and because debug/dwarf
// sizes allocations by counts in the line table's header. Package value reads
// variables and types of what [File.DebugReader] gives it.
//
// # Files that shrink
//
// Reading a mapped file that somebody truncates raises SIGBUS, which kills a
// Go program. No check can be made beforehand, so the methods of [File] turn
// the fault into an error that wraps [ErrFault]. Code that reads a slice which
// File handed out (a section's data, above all the Data of a [cfi.Section])
// does so outside of these methods and has to run under [Guard], which does
// the same; one Guard around a whole walk or a whole dump is enough.
//
// The package never runs, writes or locks a file, follows no link out of a
// root that it was given, and opens no file but the named one and, where
// [File.OpenDebugFile] is called, the files that its debugging information lies
// in.
package object
