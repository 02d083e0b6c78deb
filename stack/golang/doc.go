// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package golang walks the stacks of the goroutines of a Go program, on threads and on
// none, from a snapshot of the program. Package snapshot/goruntime reads the runtime's own
// structures for it.
//
// Copiers and ThreadCopiers return what copies these structures while the threads of a
// live program stand still. The package reads memory only through the snapshot, writes no
// memory and prints nothing.
package golang
