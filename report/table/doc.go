// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package table prints the unwind tables of a file, and explains the rules at one address.
//
// [List] finds and names the entries of a file. [Listing.Write] prints them in order, on all
// processors, with a [Printer]. [Text] and [JSON] print the table of a function. [RawText] and
// [RawJSON] print the stored entry. [Explain] finds the instruction that set each rule of a
// row, and [Explanation] prints the result in words, as a drawing of the stack frame, and as
// JSON.
//
// Text is for people and may change from version to version. JSON objects only gain members.
// Names that come from a file are escaped, so that they cannot disturb a terminal.
//
// The package opens no files and accesses no processes.
package table
