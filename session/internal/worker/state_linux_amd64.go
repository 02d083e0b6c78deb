// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// State is the state of a worker's processor apart from the general registers and the debug
// registers, as Save returns it.
type State struct {
	area   []byte // XSAVE area, in the standard form; nil without XSAVE
	floats floatState
}

// Save returns the floating-point and vector registers.
func (w *Worker) Save() (*State, error) {
	s := &State{area: make([]byte, max(xsave().size, 4096))}
	size, err := w.getSet(ntX86XState, unsafe.Pointer(unsafe.SliceData(s.area)), uintptr(len(s.area)))
	if err == unix.ENODEV { // a processor without XSAVE
		s.area = nil
		return s, w.floatState(&s.floats)
	}
	s.area = s.area[:size]
	return s, err
}

// Restore sets the registers to those of a State of this worker.
func (w *Worker) Restore(s *State) error {
	if s.area == nil {
		return w.setFloatState(&s.floats)
	}
	return w.setSet(ntX86XState, unsafe.Pointer(unsafe.SliceData(s.area)), uintptr(len(s.area)))
}
