// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package filemap reads files by mapping them.
//
// Reading a mapped file that somebody truncates raises SIGBUS, which kills a Go
// program, and no check can be made beforehand. [Guard] turns the fault into an
// error. It knows the mappings of this package: a fault elsewhere is a bug, and
// stays a panic.
package filemap
