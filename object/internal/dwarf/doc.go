// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package dwarf finds the source line of an address and the inlined calls around it in
// DWARF 2 to 5 debugging information, and the addresses of lines and functions for
// breakpoints and steps. It reads the header and first entry of every unit once, and the
// functions and line table of the units that are needed. Parts in other files, which dwz
// wrote or which were never linked (split DWARF), are read when they are met.
//
// A [Reader] returns the entries themselves. The package does not interpret types,
// variables and locations; package value does.
//
// The standard library's debug/dwarf decodes whole units with every string,
// refuses all of a file for one bad unit, and sizes allocations by counts that
// it reads (the directories of a line table) or repeats them per unit (tables
// of abbreviations), which no recover can guard against. Here every allocation
// and every loop is bounded by the bytes that remain or by a budget in
// proportion to the sections' size.
package dwarf
