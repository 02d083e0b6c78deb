// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package value reads variables, types and values from DWARF debugging
// information, versions 2 to 5, and prints values as gdb 13 prints them.
//
// An [Info] is the debugging information of one object. It tells what is in
// scope at an address ([Info.Scopes]), finds functions, variables and types by
// name, and gives each a [Type]. A [Variable] is read in a [Frame], which gives
// registers and memory; what comes out is a [Value]: a type, and the place
// where the bytes live, so that a field, an element, what a pointer leads to,
// or an assignment need not read the whole. A [Printer] turns values to text.
//
// The package knows no process, thread or session: all it has of the program is
// the Frame. It reads memory through it alone, writes only through the [Writer]
// that [Value.Assign] is given, never calls code, and opens no file.
//
// Every byte is hostile, of the debugging information and of the memory: chains
// of references are followed a bounded number of steps, expressions run a
// bounded number of operations, and a value larger than [MaxSize] is never read.
package value
