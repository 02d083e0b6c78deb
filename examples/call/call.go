// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package call

// Code calls code at an address. The argument is in the first register of the C calling convention
// (rdi or x0), and so is the result (rax or x0). The code may change all registers that C does not
// preserve, and must preserve the others: on arm64 also x28, in which Go keeps the goroutine.
//
// Arguments must not point to a stack of Go, which may move when Code begins.
func Code(code, argument uintptr) uintptr
