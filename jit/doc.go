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
//		_ "github.com/clewdev/clew/jit/gdb"  // gdb, lldb
//		_ "github.com/clewdev/clew/jit/perf" // perf, where the environment asks for it
//	)
//
// Publish uses them all. Memory is memory for the code itself.
//
// Package jit generates no code, and knows no tool's format.
package jit
