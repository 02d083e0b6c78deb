// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package stack turns a snapshot of stopped threads into stacks with named frames. [Objects]
// finds the mapped object files and generated code, walks the stacks, and names their frames.
//
// The package compiles on every system. It opens a file only through the Snapshot and to
// find debug files, and prints nothing.
package stack
