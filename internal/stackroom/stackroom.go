// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package stackroom gives a goroutine the room on its stack that it is going to need.
package stackroom

// room is what reading debugging information takes on a stack, bytes.
const room = 12 << 10

// Take has the runtime make the stack of the goroutine that calls it as large as the work
// of this program needs: 16 KiB, as stacks are powers of two. A goroutine begins with 2 KiB,
// which are copied to twice as many each time that they are used up. For that the runtime
// looks for every frame in its tables, whose pages most often have to be mapped first: in a
// process that lives for ten milliseconds that takes half a millisecond.
//
//go:noinline
func Take() {
	var taken [room]byte
	use(&taken)
}

//go:noinline
func use(*[room]byte) {}

// The goroutine that initialises packages runs main then. It takes its room first: this
// package needs no other to be initialised.
func init() { Take() }
