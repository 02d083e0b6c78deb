// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// floatState is struct user_fpregs_struct of sys/user.h, the format of FXSAVE (Intel SDM volume 1,
// 10.5.1).
type floatState struct {
	control, status, tag, opcode uint16
	ip, data                     uint64
	mxcsr, mxcsrMask             uint32
	st                           [8][16]byte
	v                            [16][16]byte
	_                            [96]byte
}

var newFloatState = floatState{control: 0x37f, mxcsr: 0x1f80, mxcsrMask: 0xffff} // psABI amd64, 3.2.3

func (w *Worker) floatState(s *floatState) error {
	return w.ptracePointer(unix.PTRACE_GETFPREGS, 0, unsafe.Pointer(s))
}

func (w *Worker) setFloatState(s *floatState) error {
	return w.ptracePointer(unix.PTRACE_SETFPREGS, 0, unsafe.Pointer(s))
}
