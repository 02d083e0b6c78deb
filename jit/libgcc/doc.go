// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package libgcc publishes generated code to the unwinders of the process itself: libgcc's
// and LLVM's, which C++ exceptions, _Unwind_Backtrace and Rust's panics use.
//
//	import _ "github.com/clewdev/clew/jit/libgcc" // jit.Publish then publishes to them
//
// The unwind tables of a batch become an .eh_frame section in C memory, which
// __register_frame (libgcc) or __unw_add_dynamic_eh_frame_section (LLVM) registers. If both
// unwinders are in the process, both get it. Publishing and withdrawing batches never hides
// another published function, not even for a moment.
//
// Publish searches for unwinders at each call. An unwinder that is loaded later knows only
// batches that are published afterwards. The package needs a C runtime in the process:
// without cgo, on other systems than Linux, or without an unwinder, Publish returns
// [jit.ErrNotApplicable]. It links no library: it looks up libgcc_s.so.1, libunwind.so.1 and
// the symbols of the program at run time. It also finds an unwinder in the program itself,
// for example in a static program or one linked with -static-libgcc.
//
// Functions without an unwind table stay unknown. With some tables these unwinders would
// abort the process or produce wrong frames. Publish returns an error for such a table: one
// that leaves the CFA undefined, contains an operation that they do not know, or is for a
// function that is already published.
//
// Package libgcc does not unwind.
package libgcc
