// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

// Package call calls generated code on the goroutine's stack. It is an example to copy, with
// registers and a frame for the code of the copying program.
//
// The function that calls is in assembly, because Go has no other way to call code that it did not
// compile. Its frame is as large as all stack that the code may use: the prologue grows the
// goroutine's stack for it, and nothing does later. It moves the stack pointer below that frame by
// an instruction that the assembler records (ADJSP on amd64, ADD on arm64), so that Go's tables,
// and with them debuggers, lead from the code's caller to main.
package call

// Stack is the size of the stack for the code, in bytes.
const Stack = 65024

// Code calls code at an address. The argument is in the first register of the C calling convention
// (rdi or x0), and so is the result (rax or x0). The code may change all registers that C does not
// preserve, and must preserve the others: on arm64 also x28, in which Go keeps the goroutine.
//
// Arguments must not point to a stack of Go, which may move when Code begins.
func Code(code, argument uintptr) uintptr
