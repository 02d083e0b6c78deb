// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import "unsafe"

// state is what code and host know of each other. It is no memory that the
// collector moves, and the code knows the offsets of its fields.
type state struct {
	sp          uint64 // the stack pointer at the first word's first instruction
	ra          uint64 // and the return address, where the machine does not push it
	stackLimit  uint64 // the lowest stack pointer that a word may begin with
	steps       int64  // what is left
	dsp         uint64 // the data stack: address of the item below the top
	tos         uint64 // and the top
	lowest      uint64 // dsp of a stack that is full
	highest     uint64 // and of one that is empty
	data        uint64 // the data space
	lastCell    uint64 // the highest offset into it that has a cell, and one that has a byte
	lastByte    uint64
	out         uint64 // what the program prints
	outLength   uint64
	outCapacity uint64
	fault       uint64 // a faultCode
	faultPC     uint64 // an address in the code of what failed

	pause      uint64 // address of the function that the word pause calls
	paused     uint64 // a file descriptor that it writes the notice to
	notice     uint64
	noticeSize uint64
	resume     uint64 // and one that it then waits for
	//lint:ignore U1000 pause reads to it
	resumeByte uint64
}

// Offsets of the fields that code uses.
const (
	offsetSP          = byte(unsafe.Offsetof(state{}.sp))
	offsetRA          = byte(unsafe.Offsetof(state{}.ra))
	offsetStackLimit  = byte(unsafe.Offsetof(state{}.stackLimit))
	offsetSteps       = byte(unsafe.Offsetof(state{}.steps))
	offsetDSP         = byte(unsafe.Offsetof(state{}.dsp))
	offsetTOS         = byte(unsafe.Offsetof(state{}.tos))
	offsetData        = byte(unsafe.Offsetof(state{}.data))
	offsetLowest      = byte(unsafe.Offsetof(state{}.lowest))
	offsetHighest     = byte(unsafe.Offsetof(state{}.highest))
	offsetLastCell    = byte(unsafe.Offsetof(state{}.lastCell))
	offsetLastByte    = byte(unsafe.Offsetof(state{}.lastByte))
	offsetOut         = byte(unsafe.Offsetof(state{}.out))
	offsetOutLength   = byte(unsafe.Offsetof(state{}.outLength))
	offsetOutCapacity = byte(unsafe.Offsetof(state{}.outCapacity))
	offsetFault       = byte(unsafe.Offsetof(state{}.fault))
	offsetFaultPC     = byte(unsafe.Offsetof(state{}.faultPC))
	offsetPause       = byte(unsafe.Offsetof(state{}.pause)) // 128: no signed byte
)
