// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package console interprets commands with gdb's names over a debug session: a
// line of text goes in, text comes out. It handles no terminal; the command clew
// debug puts one around it, and a Go program that generates code can put its own:
// a script, a pipe, a web page.
//
// Commands, their abbreviations and what they print are gdb 13's, as far as they
// make sense for a function that is called instead of a program that is run. There
// is no run but the call of a function: call fib(10) starts one, under control of
// breakpoints; run starts the last one again. What a signal meant is said in
// words, and what is refused says what to do instead.
//
// The package starts no process but the session's worker, runs no shell, and opens
// no file but source files that debugging information names and scripts that the
// command source names.
package console
