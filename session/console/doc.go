// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package console interprets gdb's commands for a debug session: it reads lines of text and
// prints text. It does not handle a terminal. The command clew debug adds a terminal, and a
// Go program that generates code can use a script, a pipe or a web page instead.
//
// Commands, abbreviations and output are those of gdb 13 where they make sense for the call
// of a function. call fib(10) calls a function under control of breakpoints; run repeats
// the last call. Signals are explained, and errors say what to do next.
//
// The package starts no process other than the session's worker, and runs no shell. It
// opens only source files that debugging information names, and scripts that the command
// source names.
package console
