// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"encoding/binary"
	"unsafe"
)

// ntARMSVE is the register set with whole SVE registers (NT_ARM_SVE of elf.h). Its header, struct
// user_sve_header of asm/ptrace.h, begins with the size of the set in bytes.
const ntARMSVE = 0x405

const maxSVE = 16 + 1<<19 // bytes; a vector has at most 8192 (SVE_VL_MAX of asm/sigcontext.h)

// State is the state of a worker's processor apart from the general registers and the debug
// registers, as Save returns it.
type State struct {
	vectors vectorSet
	sve     []byte // nil without SVE
	passed  uint64 // see Breaks
}

// Save returns the floating-point and vector registers, and the thread's register.
func (w *Worker) Save() (*State, error) {
	s := &State{passed: w.debug.passed}
	if err := w.floatState(&s.vectors.floatState); err != nil {
		return nil, err
	}
	if _, err := w.getSet(ntARMTLS, unsafe.Pointer(&s.vectors.tpidr), unsafe.Sizeof(s.vectors.tpidr)); err != nil {
		return nil, err
	}
	var header [16]byte
	if _, err := w.getSet(ntARMSVE, unsafe.Pointer(&header), unsafe.Sizeof(header)); err != nil {
		return s, nil // the machine has no SVE
	}
	size := binary.LittleEndian.Uint32(header[:])
	if size <= uint32(len(header)) || size > maxSVE {
		return s, nil
	}
	s.sve = make([]byte, size)
	_, err := w.getSet(ntARMSVE, unsafe.Pointer(unsafe.SliceData(s.sve)), uintptr(size))
	return s, err
}

// Restore sets the registers to those of a State of this worker.
func (w *Worker) Restore(s *State) error {
	w.debug.passed = s.passed
	if err := w.setSet(ntARMTLS, unsafe.Pointer(&s.vectors.tpidr), unsafe.Sizeof(s.vectors.tpidr)); err != nil {
		return err
	}
	if s.sve != nil {
		return w.setSet(ntARMSVE, unsafe.Pointer(unsafe.SliceData(s.sve)), uintptr(len(s.sve)))
	}
	return w.setFloatState(&s.vectors.floatState)
}
