// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package preset contains the unwind tables that JITs need most: for functions with a
// frame pointer, with a fixed frame or without a frame, and for code in one steady
// state; ranges of a function that run on another stack, or in which the frame is given up.
// Each supports amd64 (with and without endbr64) and arm64 (with and without
// signed return addresses). It also contains the two tables of CPython.
//
// A preset knows the instructions of its prologue and epilogue, which its documentation
// lists, and their lengths. The caller gives the size of the frame, the slots of saved
// registers and the places of the epilogues. If a table cannot express them, the error
// wraps [cfi.ErrRange] for a value, and [cfi.ErrUse] for a field.
//
// The programs are position-independent, and many functions may share one. A [cfi.Encoder]
// or package jit writes them. Package preset neither generates nor reads code: package
// check proves that a table fits its code.
package preset
