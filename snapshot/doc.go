// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package snapshot describes threads that stand still, wherever they come from: a live
// process that was stopped for a moment (package snapshot/process), a core (package
// snapshot/core), a minidump (package snapshot/minidump), or a sample. A Snapshot holds
// what an unwinder needs of them: registers, the copied stacks, the mappings, and a way to
// the rest of the memory. Package stack leads from a Snapshot to named frames.
//
// Open opens a Source by its name: the ID of a process, the path of a core. It asks the
// openers that packages register (Register), so a new kind of source needs no change in
// callers.
//
// The package compiles on every system. It never stops or writes a process, prints
// nothing, and opens only the files that a process itself has written (see Process).
package snapshot
