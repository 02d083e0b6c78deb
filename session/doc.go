// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package session calls generated code under full control, in the same process:
// with breakpoints, stepping, watchpoints, and without a fault ever reaching the
// Go program.
//
// An [Image] is code and what describes it: a batch of package jit (NewImage),
// relocatable ELF objects of any compiler (LoadImage), or Go functions that the
// code may call (NewHost). A [Session] runs functions of its images in a worker:
// a process of its own that shares this one's address space, and that this one
// traces. What the code does to memory is done; what it does wrong is a [Stop].
//
// # Object files
//
// What objects need and do not define, other images have (ImageOptions.Imports).
// Package session/hosted is such a library: printf, malloc, memcpy and the like, as
// Go functions. LoadImage runs nothing: the constructors of C++ and of
// __attribute__((constructor)) are Image.Constructors, for the program to call before
// all else.
//
// # Addresses and memory
//
// All addresses are those of this process. The code runs on a stack of the
// session's with guard pages around it. Memory of the Go heap may be given to it;
// the collector does not see what registers and stack of the worker hold, so the
// caller keeps such memory alive until the call has ended (runtime.KeepAlive),
// and never passes an address of a goroutine's stack.
//
// # What the program must not do
//
// A wait4(-1) anywhere in the program takes stops away from its sessions; wait
// for children by their PID, as package os/exec does. While a breakpoint is set,
// code of an image must not be called but by sessions: the trap instruction that
// stands there would kill the program.
//
// The package runs on Linux, amd64 and arm64. Elsewhere New returns an error that
// wraps errors.ErrUnsupported. It uses no cgo.
package session
