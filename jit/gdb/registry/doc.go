// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package registry reads the symbol files that a program registered through the GDB JIT
// interface, which package gdb writes: a list in the program's memory, at a known symbol.
//
// [Read] takes an address space: the memory of a process or a core, the addresses of the
// symbol, and ranges to search in programs without it. It reads every layout that gdb reads
// (32 and 64 bits, both byte orders) and trusts none of the data. It returns the symbol
// files unchanged; package symfile/reader opens them.
//
// The package stops no process and opens no file. A program that imports it does not define
// the interface's symbols.
package registry
