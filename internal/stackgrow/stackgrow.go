// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package stackgrow grows the stack of a goroutine before the goroutine needs it.
package stackgrow

// size is the number of bytes of stack that reading debugging information takes.
const size = 12 << 10

// Grow makes the stack of the calling goroutine as large as the work of this program
// needs: 16 KiB, as stacks are powers of two. A goroutine begins with 2 KiB, and the
// runtime copies a stack that is used up to one of twice the size. For each copy it looks
// every frame up in its tables, and most often their pages have to be mapped first: in a
// process that lives for ten milliseconds that takes half a millisecond.
//
//go:noinline
func Grow() {
	var taken [size]byte
	use(&taken)
}

//go:noinline
func use(*[size]byte) {}

// The goroutine that initializes packages later runs main. This package imports no other,
// so its stack grows first.
func init() { Grow() }
