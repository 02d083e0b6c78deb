// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package forth is a small Forth that compiles to machine code of amd64 and
// arm64, to show what a JIT does with package jit, and to be one in tests.
//
// Compile turns a source file into a Program: code that runs wherever it is
// copied to, and for each word its name, its unwind table and its lines. Load
// copies the code to executable memory and publishes it; Session.Call runs a
// word. A debugger that runs words in a process of its own needs Compile alone.
//
// Words call words by the machine's own call, on the stack of the goroutine that
// calls them, without cgo: a stack is words between frames of Go. Where the
// source breaks the rules of its language (the recursion is too deep, an address
// is not its own), the code finds out, and the session goes on.
//
// # The language
//
// Numbers have 64 bits. A program has the usual words for the stack, for
// arithmetic, comparison, memory and control; op.go, control.go and prelude.fth
// list them. Addresses count bytes from the start of the program's data. What
// stands outside of definitions is compiled too, to a word called TopLevel, so a
// constant wants a number in front of it, not a word that computes one. The word
// pause waits in a system call.
//
// The package does not optimize.
package forth
