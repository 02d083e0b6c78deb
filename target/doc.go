// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package target describes threads that stand still, wherever they come from:
// a live process that was stopped for a moment (package snapshot/process), a
// core, a sample. A Snapshot holds what an unwinder needs of them: registers,
// the copied stacks, the mappings, and a way to the rest of the memory.
//
// From a Snapshot, Objects finds what is mapped, and walks and names the stacks.
// The package compiles on every system: it never stops or writes a process,
// opens a file only through the Snapshot and to find debug files, and prints
// nothing.
package target
