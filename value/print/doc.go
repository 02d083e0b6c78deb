// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package print writes values as text: those of Go as Delve writes them, those of C, C++,
// Rust, Fortran, Ada, Pascal and Modula-2 as gdb 13 does with its default settings.
//
// A [Printer] writes one value, variable or argument on one line. Its Present function can
// replace the members of a structure by a [Presentation], as gdb's pretty printers do: see
// package value/stdtype.
//
// The package reads a program only through the values that it is given. The text of one value has
// a bounded length. A damaged type, pointer or data structure affects only its own part of the
// text.
package print
