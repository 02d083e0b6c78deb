// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package worker

import (
	"encoding/binary"
	"fmt"
	"math"
)

// set sets the n-th vector register to a number in its low half.
func (s *floatState) set(n int, v float64) {
	s.v[n] = [16]byte{}
	binary.LittleEndian.PutUint64(s.v[n][:], math.Float64bits(v))
}

// SetFloats sets the floating-point arguments of a call, and resets all other state of the
// floating-point units to that of a new thread.
func (w *Worker) SetFloats(arguments []float64) error {
	s := newFloatState
	for n, a := range arguments {
		s.set(n, a)
	}
	return w.setFloatState(&s)
}

// Float returns the low half of the n-th vector register.
func (w *Worker) Float(n int) (float64, error) {
	var s floatState
	if n < 0 || n >= len(s.v) {
		return 0, fmt.Errorf("there is no floating-point argument %d in a register", n)
	}
	err := w.floatState(&s)
	return math.Float64frombits(binary.LittleEndian.Uint64(s.v[n][:])), err
}

// SetFloat sets the n-th vector register to a number in its low half.
func (w *Worker) SetFloat(n int, v float64) error {
	var s floatState
	if err := w.floatState(&s); err != nil {
		return err
	}
	s.set(n, v)
	return w.setFloatState(&s)
}
