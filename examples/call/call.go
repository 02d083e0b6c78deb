// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package call

import "sync/atomic"

// Code calls code at an address. The argument is in the first register of the C calling convention
// (rdi or x0), and so is the result (rax or x0). The code may change all registers that C does not
// preserve, and must preserve the others: on arm64 also x28, in which Go keeps the goroutine.
//
// Arguments must not point to a stack of Go, which may move when Code begins.
func Code(code, argument uintptr) uintptr

// HostAddress returns the address of a function that generated code can call, and that calls the
// function of SetHost. The argument and the result are in the registers of Code. All other
// registers change, except the stack pointer, the frame pointer and, on arm64, x28.
//
// The stack may move during the call, so the generated code must not keep addresses in it, except
// the frame pointer. Package jit/goruntime says how Go's runtime finds the code's caller then:
// without it, stack growth and garbage collections during the call end the program.
func HostAddress() uintptr

// SetHost sets the function that generated code calls.
func SetHost(f func(argument uintptr) uintptr) { hostFunction.Store(&f) }

var hostFunction atomic.Pointer[func(uintptr) uintptr]

// host is in assembly. Go code does not call it.
//
//lint:ignore U1000 HostAddress returns its address
func host()

// goHost is called by host.
//
//lint:ignore U1000 assembly calls it
func goHost(argument uintptr) uintptr {
	result := (*hostFunction.Load())(argument)
	// A garbage collection may have shrunk the stack during the call. The code, and Code after it,
	// use all of what Code had reserved.
	reserve()
	return result
}

// reserve grows the stack as Code does. It is in assembly, so that its frame is not zeroed.
func reserve()
