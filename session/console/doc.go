// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package console interprets commands with gdb's names over a debug session: a
// line of text goes in, text comes out. It handles no terminal; the command clew
// debug puts one around it, and a Go program that generates code can put its own:
// a script, a pipe, a web page.
//
// Commands, their abbreviations and their output are gdb 13's, as far as they make sense
// for a function that is called. call fib(10) calls a function under control of
// breakpoints; run repeats the last call. Signals are explained in words, and errors say
// what to do next.
//
// The package starts only the session's worker process, runs no shell, and opens only
// source files that debugging information names and scripts that the command source
// names.
package console
