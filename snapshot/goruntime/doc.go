// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package goruntime finds the goroutines of a Go program in the memory of its process or
// core, stripped or not: the address of the runtime's list of them, and the state, the stack,
// the saved registers and the place of creation of each.
//
// The layouts of the runtime's structures are in tables for Go 1.18 to 1.27, derived from
// programs of these versions. For other versions, the layouts come from the program's
// debugging information. The addresses come from symbols, or else from the code of the
// runtime's own functions.
//
// The package stops nothing, walks no stack and names no address.
package goruntime
