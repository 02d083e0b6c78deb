// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package stackgrow grows the stack of a goroutine before the goroutine needs it.
package stackgrow

// size is the stack that reading debugging information needs, in bytes.
const size = 12 << 10

// Grow makes the stack of the calling goroutine as large as this program needs: 16 KiB, as
// sizes are powers of two. A stack begins with 2 KiB, and the runtime copies a full one to
// one of twice the size. For each copy it looks up every frame in its tables, whose pages
// must often be mapped first. In a process that runs for ten milliseconds this takes half a
// millisecond.
//
//go:noinline
func Grow() {
	var taken [size]byte
	use(&taken)
}

//go:noinline
func use(*[size]byte) {}

// The goroutine that initializes packages later runs main. This package imports no other, so
// that it is initialized first.
func init() { Grow() }
