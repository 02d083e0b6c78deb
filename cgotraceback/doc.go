// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package cgotraceback shows the C, C++ and Rust frames of a Go program in its own profiles and
// tracebacks. Importing it is enough:
//
//	import _ "github.com/clewdev/clew/cgotraceback"
//
// Then runtime/pprof, net/http/pprof, execution traces, fatal signals, runtime.Stack and
// SIGQUIT dumps show the functions of C code between those of Go, instead of ending at
// runtime.cgocall. The package calls runtime.SetCgoTraceback. It works on Linux, on amd64 and
// arm64, with cgo. Elsewhere it does nothing, and Active returns false.
//
// # How it works
//
// A goroutine that starts with the program makes tables of the unwind information, the
// functions and the source lines of the program and of its libraries, and looks for new
// libraries a few times a second. In a signal handler, C code walks the stack by these tables. It
// allocates nothing, takes no lock, and calls no function of the C library. It reads a stack or code
// only after the kernel has reported that the memory can be read. Code without unwind information
// is walked by its frame pointer if its instructions show that it has one. Otherwise the walk ends:
// a missing frame is better than a wrong one. ReadCounters returns how many walks ended early, and
// why.
//
// # Limits
//
// Go's runtime asks for at most 32 frames of C at a time. Names are those of the symbol table:
// mangled, as go tool pprof expects. Frames of code that was generated at run time are not
// found. Before the tables are made, in the first hundredths of a second, C frames are missing: with
// large libraries, in the first tenths. Lines and inlined calls follow within seconds; Prepare waits
// for them. The traceback of a panic omits the C functions that have called the Go function. The
// runtime does not report a deadlock ("all goroutines are asleep"), because the package's goroutine
// is never blocked for ever.
//
// Two packages cannot both call runtime.SetCgoTraceback: a program that also imports
// github.com/ianlancetaylor/cgosymbolizer panics when it starts.
package cgotraceback
