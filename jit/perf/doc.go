// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package perf writes and reads the two formats of generated code of Linux's perf:
// jitdump files and perf maps. It writes them for its own program, and reads those of
// other programs, in the dialects of their runtimes.
//
// A jitdump is a log of functions: their code, names, source lines and unwind tables,
// each with its time. Dump writes it; Jitdump and Index read it. A perf map is a text
// file of addresses and names. MapWriter writes it; Map reads it.
// Publisher publishes a jit.Code through either.
//
// Importing this package publishes nothing, because readers of other programs'
// files import it too. Package environment publishes if the environment asks for
// it (CLEW_PERF=jitdump).
//
// To use a jitdump of code that keeps frame pointers, as Go's own code does:
//
//	CLEW_PERF=jitdump perf record -k mono -g ./program
//	perf inject --jit -i perf.data -o jit.data
//	perf report -i jit.data
//
// These stacks are complete. If code has no frame pointers, perf shows the innermost
// function and omits its callers, up to and including the first one with a frame pointer.
//
// With unwind tables perf unwinds code without frame pointers:
//
//	CLEW_PERF=jitdump perf record -k mono --call-graph dwarf ./program
//	perf inject --jit -i perf.data -o jit.data
//	perf report -i jit.data
//
// In a program without C code these stacks end at the first Go function, because Go writes
// only .debug_frame, which Debian's perf does not read. They are complete if the program has
// an .eh_frame_hdr, which the C compiler's startup files contain (go build
// -ldflags=-linkmode=external).
//
// A jitdump has no inlined calls: perf shows the line of the innermost one (jit.Line.Inlined) in
// the function that contains its code. A map has no lines.
//
// Neither format can say that a function was withdrawn, so Withdraw writes nothing. In both
// formats a later function replaces earlier ones at its addresses. In a map it replaces them
// for the whole profile, also before it existed.
//
// Package perf does not read perf.data, and does not run perf.
package perf
