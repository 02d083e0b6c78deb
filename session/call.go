// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import "math"

// Arguments are what a function is called with, by the machine's C calling
// convention. Missing arguments are 0.
type Arguments struct {
	Words  []uint64  // up to 8 integers and pointers, in the order of the function's own
	Floats []float64 // up to 8 floating-point arguments; see Float32

	// StopAtEntry stops before the first instruction.
	StopAtEntry bool
}

// Float32 makes of a float32 the argument that passes it.
func Float32(f float32) float64 { return math.Float64frombits(uint64(math.Float32bits(f))) }

// Call calls the function at an address of an image and returns at the first
// stop, which is the function's return if nothing else comes before. A fault is
// a stop, not an error. The error wraps ErrRunning, ErrStopped, ErrArguments for
// more than 8 words, or ErrAddress for an address that is in no image.
func (s *Session) Call(function uint64, words ...uint64) (*Stop, error) {
	return s.CallWith(function, Arguments{Words: words})
}

// CallWith is Call with any arguments.
func (s *Session) CallWith(function uint64, a Arguments) (*Stop, error) { return nil, errNotYet }

// CallMain calls a function as C programs' main is: with the number of
// arguments, an array of pointers to them, and an empty environment, all of it on
// the worker's stack. Of a only StopAtEntry is used.
func (s *Session) CallMain(function uint64, arguments []string, a Arguments) (*Stop, error) {
	return nil, errNotYet
}
