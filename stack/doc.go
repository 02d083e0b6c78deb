// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package stack leads from a snapshot, threads that stand still, to named frames: Objects
// finds what is mapped, and walks and names the stacks.
//
// The package compiles on every system. It opens a file only through the Snapshot and to
// find debug files, and prints nothing.
package stack
