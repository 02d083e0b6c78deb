// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package gdb speaks the GDB JIT interface, by which gdb and lldb learn of code
// that a program generated: a list of symbol files in the program's memory, at a
// symbol that they know, and a function at which they stop the program when the
// list changes. The package writes the list of its own program. Package registry
// reads that of any other, or of a core.
//
// A Publisher makes one symbol file of each batch and registers it. It needs no
// C runtime: both symbols are defined in assembly. Symbol files lie outside of
// the Go heap. They are merged as they accumulate, so that a debugger has few to
// look at, and are written again without the functions that are withdrawn.
//
// lldb looks at the list only after
//
//	settings set plugin.jit-loader.gdb.enable on
//
// and stops at the signals by which Go preempts goroutines, unless it is told
//
//	process handle SIGURG -n false -p true -s false
//
// To withdraw some functions writes the symbol file again that they are in, which
// has up to a thousand or so: one call for many of them costs what one for one
// does, about 0.2 ms. A whole batch of that size is withdrawn without.
//
// Debuggers find the list by a symbol. A program that is linked with
// -ldflags=-s has none, and they do not see its generated code; registry.Read does, by
// searching the program's memory. The unwind tables of generated code lead to
// the Go function that called it; from there on gdb needs the program's own,
// which -ldflags=-w leaves out.
//
// What a Go program must not do:
//   - define __jit_debug_descriptor or __jit_debug_register_code itself, or
//     write to the one and call the other: the list has one writer, this package;
//   - give back or write to the memory of code that was not withdrawn: a debugger
//     that has a breakpoint there writes what it replaced when it removes it;
//   - publish or withdraw in a signal handler of C, or between fork and exec:
//     another thread may hold the list's lock;
//   - call generated code on a goroutine's stack without having made sure of the
//     room that it needs: Go's stacks are small, and grow only in Go's functions.
//
// The package stops no process, and opens no file but those that are mapped into
// its own, to look for a second copy of the interface.
package gdb
