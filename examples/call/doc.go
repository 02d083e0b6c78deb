// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

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
