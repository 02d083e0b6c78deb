// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package disasm shows machine code as assembly in GNU syntax, one instruction at a
// time, for the machines that golang.org/x/arch knows. Bytes that it cannot decode, and
// all code of other machines, are shown as data (".byte 0xc5, 0xf8"), never as a guess.
//
// It prints instructions and does not say what they do. Analysis of code needs the
// decoded instruction, and takes it from golang.org/x/arch itself.
package disasm
