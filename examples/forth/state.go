// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package forth

import "unsafe"

// state is the data that code and host share. The garbage collector does not move it. Generated code has
// the offsets of its fields.
type state struct {
	sp          uint64 // stack pointer at the first word's first instruction
	ra          uint64 // return address, if the machine does not push it
	stackLimit  uint64 // lowest stack pointer at the start of a word
	steps       int64  // number of steps that are left
	dsp         uint64 // address of the data stack's item below the top
	tos         uint64 // top of the data stack
	lowest      uint64 // dsp of a full data stack
	highest     uint64 // dsp of an empty data stack
	data        uint64 // address of the data space
	lastCell    uint64 // highest offset of a cell in the data space
	lastByte    uint64 // highest offset of a byte in the data space
	out         uint64 // address of the output buffer
	outLength   uint64
	outCapacity uint64
	fault       uint64 // a faultCode
	faultPC     uint64 // address in the code of the fault

	pause      uint64 // address of the function that the word pause calls
	paused     uint64 // file descriptor for the notice
	notice     uint64
	noticeSize uint64
	resume     uint64 // file descriptor from which pause reads
	//lint:ignore U1000 pause reads to it
	resumeByte uint64
}

// Offsets of the fields in generated code.
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
	offsetPause       = byte(unsafe.Offsetof(state{}.pause)) // 128: does not fit in a signed byte
)
