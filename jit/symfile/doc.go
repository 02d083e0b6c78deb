// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package symfile writes symbol files: the ELF images in memory by which programs describe
// their generated code to debuggers, for the GDB JIT interface.
//
// [Append] makes the image of a whole batch of functions: their names, unwind tables and
// source lines, at the addresses where they run. [Merge] makes one image of several,
// without the functions that were withdrawn, and needs nothing but the images.
//
// # The image
//
// An image is an ELF file of type ET_EXEC without program headers, for 64-bit little-endian
// machines. All values are run-time addresses. It has one .text (SHT_NOBITS) for each range
// of code, .symtab and .strtab; .eh_frame and .eh_frame_hdr if a function has an unwind
// table; and, if a function has lines, one DWARF 5 compile unit with an entry for each
// function and each inlined call: .debug_abbrev, .debug_rnglists, .debug_info, .debug_line, and .debug_str and
// .debug_line_str, which share the bytes of .strtab. The image may be copied to any
// address.
//
// The package registers nothing (package gdb does), reads no images of other programs
// (package reader does), and writes no image to a file.
package symfile
