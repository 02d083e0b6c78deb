// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package target describes threads that stand still, wherever they come from:
// a live process that was stopped for a moment (package target/process), a
// core, a sample. A Snapshot holds what an unwinder needs of them: registers,
// the copied stacks, the mappings, and a way to the rest of the memory.
//
// The package holds facts only, and compiles on every system: it never stops,
// reads or writes a process, opens no file and prints nothing.
package target
