// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

// legacy is struct user_fpregs_struct of sys/user.h, which is what FXSAVE stores
// (Intel SDM volume 1, 10.5.1).
type legacy struct {
	control, status, tag, opcode uint16
	ip, data                     uint64
	mxcsr, mxcsrMask             uint32
	st                           [8][16]byte
	xmm                          [16][16]byte
	_                            [96]byte
}

func (w *Worker) legacy(f *legacy) error {
	return w.ptracePointer(unix.PTRACE_GETFPREGS, 0, unsafe.Pointer(f))
}

func (w *Worker) setLegacy(f *legacy) error {
	return w.ptracePointer(unix.PTRACE_SETFPREGS, 0, unsafe.Pointer(f))
}

// SetFloats sets the floating-point arguments of a call, and all other state of
// floating-point units to what a new thread's is.
func (w *Worker) SetFloats(arguments []float64) error {
	f := legacy{control: 0x37f, mxcsr: 0x1f80, mxcsrMask: 0xffff} // psABI amd64, 3.2.3 (reset state)
	for n, a := range arguments {
		binary.LittleEndian.PutUint64(f.xmm[n][:], math.Float64bits(a))
	}
	return w.setLegacy(&f)
}

// Float returns the low half of the n-th vector register.
func (w *Worker) Float(n int) (float64, error) {
	var f legacy
	if n < 0 || n >= len(f.xmm) {
		return 0, fmt.Errorf("there is no floating-point argument %d in a register", n)
	}
	err := w.legacy(&f)
	return math.Float64frombits(binary.LittleEndian.Uint64(f.xmm[n][:])), err
}

// SetFloat sets the n-th vector register to a number in its low half.
func (w *Worker) SetFloat(n int, v float64) error {
	var f legacy
	if err := w.legacy(&f); err != nil {
		return err
	}
	f.xmm[n] = [16]byte{}
	binary.LittleEndian.PutUint64(f.xmm[n][:], math.Float64bits(v))
	return w.setLegacy(&f)
}
