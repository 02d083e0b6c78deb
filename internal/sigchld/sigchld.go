// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package sigchld

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// quiet counts the callers of Quiet that have not restored the flag.
var quiet struct {
	sync.Mutex
	users int
	set   bool // this package set the flag
}

// Quiet sets the flag until the returned function is called, once.
func Quiet() (restore func()) {
	quiet.Lock()
	defer quiet.Unlock()
	if quiet.users++; quiet.users == 1 {
		quiet.set = changeStopSignals(true)
	}
	return func() {
		quiet.Lock()
		defer quiet.Unlock()
		if quiet.users--; quiet.users == 0 && quiet.set {
			changeStopSignals(false)
		}
	}
}

const saNoCldStop = 1 // SA_NOCLDSTOP, include/uapi/asm-generic/signal-defs.h

// kernelSigaction is the struct sigaction of rt_sigaction(2) on amd64 and
// arm64.
type kernelSigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// changeStopSignals sets or clears SA_NOCLDSTOP, and reports whether the flag changed. It
// reads the action each time, because the program may have changed it.
func changeStopSignals(off bool) (changed bool) {
	var a kernelSigaction
	const size = unsafe.Sizeof(a.mask)
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), 0, uintptr(unsafe.Pointer(&a)), size, 0, 0); errno != 0 {
		return false
	}
	if (a.flags&saNoCldStop != 0) == off {
		return false
	}
	a.flags ^= saNoCldStop
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(&a)), 0, size, 0, 0)
	return errno == 0
}
