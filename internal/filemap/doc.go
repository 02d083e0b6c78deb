// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package filemap reads files by mapping them.
//
// Reading a mapped file after its truncation raises SIGBUS, which kills a Go program, and
// no earlier check can prevent it. [Guard] turns the fault into an error if the address is in
// a mapping of this package. A fault elsewhere is a bug, and stays a panic.
package filemap
