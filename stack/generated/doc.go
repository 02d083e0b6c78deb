// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package generated reads the descriptions that a target publishes of the code that it
// generated while it ran: the GDB JIT list, jitdumps, perf maps, libunwind's dyn-info list and
// the module list of Go runtimes.
//
// A [Source] is one such list or file. [Open] reads a jitdump or perf map. A [Reader] reads
// all sources of a process or core, and package stack uses it for frames in generated code.
package generated
