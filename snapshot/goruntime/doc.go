// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package goruntime finds the goroutines of a Go program in the memory of its
// process or core, stripped or not: where the runtime keeps their list, and what a
// goroutine's structure says of its state, its stack and where it was created.
//
// What the runtime's structures look like is known for Go 1.18 to 1.26, by tables
// that are derived from programs of these versions, and for others by a program's
// debugging information. Where they are is known by symbols, else by the code of the
// runtime's own functions.
//
// The package stops nothing, walks no stack and names no address.
package goruntime
