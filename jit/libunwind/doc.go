// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package libunwind is the room of libunwind's dynamic interface,
// libunwind-dynamic(3): the list of unwind information that a program has
// registered for the code that it generated.
//
// A program that imports the package below it publishes its code to the libunwind
// that it is linked with or has loaded:
//
//	import _ "github.com/clewdev/clew/jit/libunwind/linked"
//
// [Publisher] registers search tables and call frame information, which
// libunwind unwinds by. They carry no names. [PublishProcedures] registers
// procedures described by regions (package region), which do, and which
// libunwind reads on Itanium only. Both call libunwind's _U_dyn_register, which
// they look up at run time: a program without libunwind links and runs, and
// nothing is published. They need that import too, and a build with cgo for
// Linux on amd64 or arm64.
//
// [Find] and [Read] read the list of another process, or of a core, without
// libunwind, on any machine. [Encoder] lays the structures out in memory.
//
// The package finds no processes and no symbols (packages snapshot/process and stack do),
// and registers nothing that was not asked for. LLVM's libunwind is a different
// library; package jit/libgcc publishes to it.
package libunwind
