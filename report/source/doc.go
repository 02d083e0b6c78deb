// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package source prints unwind tables as source code: as calls of
// [cfi.Builder] (Go), as arrays of bytes (C) and as .cfi directives (GNU
// assembler). It is for who generates code: a function that a compiler wrote
// serves as the template, and what describes its frames is printed ready to
// paste, instead of copied by hand from a dump.
//
// Compiled or assembled, what is printed gives the rows of the template. How
// they are encoded, and what only counts at one place in one file, is not kept:
// the Go and C forms use the machine's usual factors and pc-relative pointers
// of four bytes, and both leave out the personality routine and the
// language-specific data area. A comment says what is left to the author.
//
// What is malformed, or cannot be said in a form, is not printed at all: a
// comment in its place says why.
//
// The package runs no compiler and no assembler.
package source
