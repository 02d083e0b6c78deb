// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package libunwind publishes generated code through libunwind's dynamic interface,
// libunwind-dynamic(3): a list of unwind information that a program registers for its
// generated code. It also reads that list of other processes.
//
// A program that imports package linked publishes its code to the libunwind that it is
// linked with or has loaded:
//
//	import _ "github.com/clewdev/clew/jit/libunwind/linked"
//
// [Publisher] registers search tables with call frame information, by which libunwind
// unwinds. They have no names. [PublishProcedures] registers procedures described by
// regions (package region), which have names, but which libunwind reads on Itanium only.
// Both call libunwind's _U_dyn_register, which they look up at run time: a program without
// libunwind links and runs, and publishes nothing. Both need package linked, and a build
// with cgo for Linux on amd64 or arm64.
//
// [Find] and [Read] read the list of another process or a core, on any machine and without
// libunwind. [Encoder] lays the structures out in memory.
//
// The package finds no processes and no symbols (packages snapshot/process and stack do),
// and registers nothing without a call. LLVM's libunwind is a different library; package
// jit/libgcc publishes to it.
package libunwind
