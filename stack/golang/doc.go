// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package golang walks the stacks of all goroutines of a Go program, running or parked, from a
// snapshot of the program. Package snapshot/goruntime reads the runtime's structures for it.
// The walk of a parked goroutine starts at its saved program counter and stack pointer.
//
// Copiers and ThreadCopiers return copiers of these structures, for use while the threads of a
// live program stand still. The package reads memory only through the snapshot, writes no
// memory and prints nothing.
package golang
