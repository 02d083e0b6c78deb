// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package jit describes code that a program generated while it runs, and makes
// it known to the tools that look at programs: debuggers, profilers, and the
// unwinders of C runtimes.
//
// A Code is a batch of functions: where they are, what they are called, how to
// unwind through them, and which source lines they come from. A Publisher makes
// a batch known to one tool and returns a Registration that withdraws it. The
// publishers are packages of their own, and a program has those that it imports:
//
//	import (
//		"github.com/clewdev/clew/jit"
//		_ "github.com/clewdev/clew/jit/gdb"              // gdb, lldb
//		_ "github.com/clewdev/clew/jit/perf/environment" // perf, where the environment asks for it
//	)
//
// Publish uses them all. One that fails hinders no other: look at
// [Publication.Failed].
//
// # The order of things
//
// [NewMemory] gives memory, which is written, made executable by Memory.Seal,
// described by a Code, published, and then called; when nobody runs it any more
// it is withdrawn, and then its memory is closed. What is called before Seal, or
// written after it, faults. The example of Publish has all of it.
//
// # Calling generated code
//
// Go has no way to call machine code but a function in assembly that does. On a
// goroutine's stack it must have declared a frame with room for all that the
// generated code needs, as nothing else makes that stack grow; the stack may
// have moved when that function starts, so arguments point to memory outside of
// it. While generated code runs the goroutine is not preempted, and a garbage
// collection waits for it. examples/forth does it so, for amd64 and arm64.
//
// Package jit generates no code, and knows no tool's format.
package jit
