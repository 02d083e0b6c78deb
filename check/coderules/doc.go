// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package coderules makes unwind rules for functions that no table describes, from their
// code, so that package stack can walk through them: assembly language without call frame
// information, and the functions of musl. The analysis is that of [check.Synthesizer], for
// amd64 and arm64.
//
// An [Analyzer] is a [stack.CodeAnalyzer]. It analyses a function when a walk first meets it,
// and then keeps its rules. Where the code does not determine them there are none, as in the
// gaps of check.Synthesis. The rules assume that the function is called at its first byte, as
// the psABI says; the walker also checks that the return address follows a call.
//
// The package reads the code of files only through package object, and runs none.
package coderules
