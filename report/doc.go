// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package report shows what the floors below found out, to people and to
// programs: the unwind tables of a file, and the rule that holds at one
// address with the instructions that said so.
//
// A print is a function of its data. [TableText] and [TableJSON] print the
// table of one function, [RawText] and [RawJSON] one entry of a section as it
// is stored; [List] finds and names the entries of a file, and [Listing.Write]
// prints many of them, in their order, on all processors. [Explain] says where
// each rule of one row comes from, and [Explanation] prints that in words, as
// a drawing of the stack frame, and as JSON.
//
// Text is for people and may change from version to version; the fields of the
// JSON forms are only ever added to. Names that come from a file are printed
// such that they cannot disturb a terminal.
//
// The package opens no file but the source files that debug information names
// ([SourceText] alone), asks no process anything, and colours only what it is
// given a [Palette] for.
package report
