// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package disasm shows machine code as assembly in GNU syntax, one instruction
// at a time, for the machines that golang.org/x/arch knows. Bytes that it does
// not know are shown as data (".byte 0xc5, 0xf8"), never as a guess, and code
// of other machines altogether so.
//
// It says what the code is called and never what it does: analysis of code
// needs the decoded instruction, and takes that from golang.org/x/arch itself.
package disasm
