// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package disasm prints machine code as assembly in GNU syntax, one instruction at a time, for
// the machines that golang.org/x/arch supports. Bytes that it cannot decode, and all code of
// other machines, are printed as data (".byte 0xc5, 0xf8"), never as a guess.
//
// The package prints text only. Code analysis needs decoded instructions, and uses
// golang.org/x/arch or package internal/x86.
package disasm
