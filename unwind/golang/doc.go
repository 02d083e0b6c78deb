// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package golang finds the rules of frames of Go functions: from .gopclntab, which every Go
// program has, stripped or not, and from the conventions of the compiler and the runtime. The
// conventions give facts that neither the table nor call frame information contains: where a
// function has saved its caller's frame pointer, and where stacks start. They also say on
// which stack the caller of a function that changes stacks is (systemstack, mcall, morestack;
// asmcgocall from Go to C, cgocallback back to Go).
//
// A change of stacks is described by ordinary rules, whose CFA is an expression (DWARF
// 5 §6.4.3) over the runtime's g and m in the target's memory. Offsets in g and m that
// differ between versions of Go are read from the runtime's own code.
//
// The package knows amd64 and arm64, reads no file, and walks nothing.
package golang
