// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package generated reads what a target says about the code that it generated while it ran:
// the GDB JIT list, jitdumps, perf maps, libunwind's dyn-info list and the module list of Go
// runtimes.
//
// A [Source] is one such place. [Open] reads one from a file, and a [Reader] reads those of a
// process or core, which package stack uses for frames in generated code.
package generated
