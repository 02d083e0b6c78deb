// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package perf speaks the two formats by which Linux's perf learns of generated
// code: jitdump files and perf maps. It writes both for the program that it is
// part of, and reads both of other programs, in all the dialects that their
// runtimes write.
//
// A jitdump is a log of the functions that came to be: their code, names, source
// lines and unwind tables, each with the time (Dump writes it, Jitdump and Index
// read it). A perf map is a text file of addresses and names (MapWriter, Map).
// Publisher publishes a jit.Code through either.
//
// To import this package publishes nothing, as who reads what other programs wrote
// imports it too. A program that publishes where its environment asks for it
// (CLEW_PERF=jitdump) imports package environment, beside this one.
//
// What to do with a jitdump, where generated code keeps frame pointers, as Go's
// own code does:
//
//	CLEW_PERF=jitdump perf record -k mono -g ./program
//	perf inject --jit -i perf.data -o jit.data
//	perf report -i jit.data
//
// These stacks are whole. Of code that keeps none, only the innermost function is
// shown: those that it was called through, and the function with a frame pointer
// that called them, are left out.
//
// By the unwind tables perf finds its way through code without frame pointers:
//
//	CLEW_PERF=jitdump perf record -k mono --call-graph dwarf ./program
//	perf inject --jit -i perf.data -o jit.data
//	perf report -i jit.data
//
// But in a program that is all Go these stacks end at the first function of Go:
// Go writes .debug_frame only, which Debian's perf does not read. They are whole
// where the program has an .eh_frame_hdr, as the C compiler's startup files bring
// it (go build -ldflags=-linkmode=external).
//
// Neither format knows a withdrawal. In a jitdump what comes later at the same
// addresses replaces what was there; in a map it does too, and for the whole
// past as well. Withdraw therefore writes nothing.
//
// Package perf reads no perf.data, and runs no perf.
package perf
