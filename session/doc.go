// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package session calls generated code under full control, in the same process: with breakpoints,
// steps and watchpoints. A fault of the code never reaches the Go program.
//
// An [Image] is code with its description: a batch of package jit (NewImage), relocatable ELF objects
// of any compiler (LoadImage), or Go functions that the code may call (NewHost). A [Session] runs
// functions of its images in a worker, a separate process that shares the address space of this one.
// This process traces the worker. The code's writes to memory remain; a fault of the code is a [Stop].
//
// # Object files
//
// LoadImage looks undefined symbols up in other images (ImageOptions.Imports). Package
// session/hosted is such an image: printf, malloc, memcpy and the like, as Go functions.
// LoadImage runs nothing: Image.Constructors lists the constructors of C++ and of
// __attribute__((constructor)), which the program must call before any other function.
//
// # Addresses and memory
//
// All addresses are those of this process. The code runs on a stack of the session, with guard pages
// around it. The caller may pass memory of the Go heap to the code. The garbage collector does not see
// pointers in the worker's registers and stack, so the caller must keep such memory alive until the
// call has ended (runtime.KeepAlive), and must never pass an address of a goroutine's stack.
//
// # Calls while a call is stopped
//
// A session that is stopped in a call can call another function ([Session.CallNested]), on the same
// stack below the stopped frame. The nested call can stop itself, be stepped, and be aborted. When it
// ends, the session is stopped as before: all registers are those of the stopped call.
//
// # What the program must not do
//
// A wait4(-1) anywhere in the program takes stops away from its sessions. Wait for children by
// their PID, as package os/exec does. While a breakpoint is set, only sessions may call code of
// the image: the trap instruction at the breakpoint would kill the program.
//
// The package runs on Linux on amd64 and arm64, without cgo. Elsewhere New returns an error that
// wraps errors.ErrUnsupported.
package session
