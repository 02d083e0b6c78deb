// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package gdb publishes generated code through the GDB JIT interface, by which gdb and lldb
// find code that a program generated. The interface is a list of symbol files in the
// program's memory, at a known symbol, and a function that the program calls when the list
// changes. Debuggers stop the program at that function. The package writes the list of this
// program. Package registry reads the list of any process or core.
//
//	import _ "github.com/clewdev/clew/jit/gdb" // jit.Publish then publishes to debuggers
//
// A [Publisher] makes one symbol file of each batch and registers it. It needs no C
// runtime: both symbols are defined in assembly. Symbol files lie outside of the Go heap.
// The publisher merges them as they accumulate, so that a debugger has few to read, and
// rewrites them without the functions that are withdrawn.
//
// lldb reads the list only after
//
//	settings set plugin.jit-loader.gdb.enable on
//
// and stops at the signals by which Go preempts goroutines, unless configured otherwise:
//
//	process handle SIGURG -n false -p true -s false
//
// Withdrawing some functions of a batch rewrites their symbol file, which has up to about a
// thousand functions. One call takes about 0.2 ms, for one function or for many. Withdrawing
// a whole batch of that size rewrites nothing.
//
// Debuggers find the list by a symbol. A program that is linked with -ldflags=-s has no
// symbols, so debuggers do not see its generated code; registry.Read does, by searching the
// program's memory. The unwind tables of generated code lead to the Go function that called
// it; from there on gdb needs the program's own tables, which -ldflags=-w leaves out.
//
// A Go program must not:
//
//   - define __jit_debug_descriptor or __jit_debug_register_code itself, write the
//     descriptor, or call the function: this package must be the only writer of the list;
//   - free or write the memory of code that was not withdrawn: a debugger with a breakpoint
//     there writes the original bytes back when it removes it;
//   - publish or withdraw in a signal handler of C, or between fork and exec: another
//     thread may hold the list's lock;
//   - call generated code on a goroutine's stack that is too small for it: Go's stacks are
//     small, and grow only in Go's functions.
//
// The package stops no process. It opens no files except those mapped into its own process,
// to look for a second copy of the interface.
package gdb
