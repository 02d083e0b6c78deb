// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package source prints unwind tables as source code: as calls of [cfi.Builder] (Go), as
// arrays of bytes (C) and as .cfi directives (GNU assembler). It is for authors of code
// generators. A function that a compiler wrote is the template, and its table is printed ready
// to paste.
//
// The printed code gives the rows of the template, but not its encoding: the Go and C forms
// use the machine's usual factors and pc-relative pointers of four bytes. Properties of one
// place in one file are omitted: the personality routine and the language-specific data area.
// A comment lists what the author must add.
//
// Functions that are malformed, or that a form cannot express, are replaced by a comment with
// the reason.
//
// The package runs no compilers or assemblers.
package source
