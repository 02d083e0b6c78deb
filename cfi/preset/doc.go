// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package preset holds the unwind tables that authors of JITs write most: of
// functions with a frame pointer, with a fixed frame, without a frame, and of
// code in one steady state; each for amd64 (with and without endbr64) and arm64
// (with and without signed return addresses), and the two that CPython makes.
//
// A preset knows the instructions of its prologue and epilogue, which its
// documentation lists, and so their lengths: the caller says how large the frame
// is, what is saved where, and where the epilogues are. What a table cannot
// express is an error that wraps [cfi.ErrRange].
//
// The programs that it returns are position-independent, and many functions may
// share one: a [cfi.Encoder] or package jit writes them. Package preset generates
// no code, and looks at none: whether a table is right for its code, package
// check proves.
package preset
