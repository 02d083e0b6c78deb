// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package forth is a small Forth that compiles to machine code for amd64 and arm64. It shows how a JIT
// uses package jit, and is a JIT for tests.
//
// Compile compiles a source file to a Program: position-independent code, and the name, unwind table and
// lines of each word. Load copies the code to executable memory and publishes it; Session.Call runs a
// word. A debugger that runs words in another process needs only Compile.
//
// Words call words with the machine's call instruction, on the stack of the calling goroutine and without
// cgo, so a stack has words between frames of Go. The code detects violations of the language's rules
// (too deep a recursion, an invalid address), and the session can continue.
//
// # The language
//
// Numbers have 64 bits. A program has the usual words for the stack, arithmetic, comparison, memory and
// control; op.go, control.go and prelude.fth list them. Addresses count bytes from the start of the
// program's data. Source outside definitions is compiled to a word called TopLevel, so the value of a
// constant must be a number, not a word that computes one. The word pause waits in a system call.
//
// The package does not optimize.
package forth
