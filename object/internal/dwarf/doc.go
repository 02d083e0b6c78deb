// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package dwarf finds the source line of an address and the inlined calls around it in
// DWARF 2 to 5 debugging information, and the addresses of lines and functions for
// breakpoints and steps. It reads the header and first entry of every unit once, and the
// functions and line table of the units that are needed. Parts in other files are read
// when they are needed: supplementary files of dwz, and units that were never linked
// (split DWARF).
//
// A [Reader] returns the entries themselves. The package does not interpret types,
// variables and locations; package value does.
//
// The standard library's debug/dwarf decodes whole units with every string, and refuses
// a whole file for one damaged unit. It sizes allocations by counts in the file (the
// directories of a line table) or repeats them for each unit (tables of abbreviations);
// no recover guards against that. In this package the remaining bytes, or a budget in
// proportion to the sections' size, bound every allocation and every loop.
package dwarf
