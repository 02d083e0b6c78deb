// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package value reads variables, types and values with the help of DWARF debugging information,
// versions 2 to 5.
//
// An [Info] is the debugging information of one object. It finds the scopes at an address
// ([Info.Scopes]), and functions, variables and types by name. Each variable and function has a
// [Type]. A [Variable] is read in a [Frame], which provides registers and memory. The result is a
// [Value]: a type and the place of the bytes. Reading a field or an element,
// following a pointer and assigning do not read the whole value. Package value/print writes values as gdb and Delve do.
//
// The package does not know processes, threads or sessions: it reads memory only through the
// Frame, writes only through the [Writer] that [Value.Assign] gets, never calls code, and
// opens no file.
//
// No byte of the debugging information or of the memory is trusted: the package follows chains of
// references for a bounded number of steps, runs a bounded number of operations of an expression,
// and never reads a value larger than [MaxSize].
package value
