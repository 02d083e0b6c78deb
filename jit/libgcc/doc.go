// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package libgcc makes generated code known to the unwinders of the process
// itself: libgcc's and LLVM's, which C++ exceptions, _Unwind_Backtrace and
// Rust's panics use. A program that imports it has the publisher in jit.Publish:
//
//	import _ "github.com/clewdev/clew/jit/libgcc"
//
// The unwind tables of a batch become a section of .eh_frame in C memory, which
// __register_frame (libgcc) or __unw_add_dynamic_eh_frame_section (LLVM) is told
// of. Where both unwinders are in the process, each is told. Whatever is
// published and withdrawn, and however batches lie amid each other, there is no
// moment in which a function that stays is unknown.
//
// An unwinder is found when a batch is published; one that is loaded later knows
// what is published from then on. It needs a C runtime in the process: without
// cgo, not on Linux, or where no unwinder is loaded, Publish returns
// jit.ErrNotApplicable. Nothing is linked for it: libgcc_s.so.1, libunwind.so.1
// and the symbols of the program are looked up as they are at that moment. An
// unwinder that is linked into the program itself is found as well, in a static
// program or one that was linked with -static-libgcc.
//
// Functions without an unwind table stay unknown. What these unwinders would
// abort the process for, or be led astray by, is an error of Publish: a table
// that leaves the CFA undefined, an operation that they do not know, a function
// that is published already.
//
// Package libgcc unwinds nothing itself.
package libgcc
