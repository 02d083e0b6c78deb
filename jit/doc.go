// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package jit describes machine code that a program generated at run time, and
// publishes it to tools: debuggers, profilers, and the unwinders of C runtimes.
//
// A Code is a batch of functions: their addresses, names, unwind tables and source
// lines. A Publisher makes a batch known to one tool, and returns a Registration
// that withdraws it. Each publisher is a package. A program uses the publishers
// that it imports:
//
//	import (
//		"github.com/clewdev/clew/jit"
//		_ "github.com/clewdev/clew/jit/gdb"              // gdb, lldb
//		_ "github.com/clewdev/clew/jit/perf/environment" // perf, if the environment asks for it
//	)
//
// Publish calls all of them. The failure of one does not affect the others: see
// [Publication.Failed].
//
// # The life of generated code
//
//  1. [NewMemory] returns writable memory. Write the code to it.
//  2. Memory.Seal makes it executable. Calls before Seal, and writes after it, fault.
//  3. Describe the code by a Code, and publish it.
//  4. Call it.
//  5. When no thread runs it any more, withdraw it, and then close its memory.
//
// The example of Publish shows all steps.
//
// # Calling generated code
//
// Go can call machine code only from a function in assembly. If the code runs on a
// goroutine's stack, that function must declare a frame that is large enough for
// all of the generated code, because nothing else makes the stack grow. The stack
// may have moved when that function starts, so arguments must point to memory
// outside of the stack. While generated code runs, the goroutine is not preempted,
// and a garbage collection waits for it. See examples/forth for amd64 and arm64.
//
// Package jit does not generate code, and does not know the format of any tool.
package jit
