// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package process

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Each thread that stops sends its tracer's process a SIGCHLD, and the Go
// runtime's handler takes it on another thread, on the processor that the
// target's threads need to come to their stop: of 65 threads' pause a third.
// SA_NOCLDSTOP asks the kernel not to. The flag is set only while threads are
// stopped and changes nothing about children that exit. A program that has
// os/signal tell it of children that stop misses those that do so meanwhile.
var quiet struct {
	sync.Mutex
	captures int
	set      bool // by us
}

// quietStops sets the flag until the returned function is called.
func quietStops() (restore func()) {
	quiet.Lock()
	defer quiet.Unlock()
	if quiet.captures++; quiet.captures == 1 {
		quiet.set = changeStopSignals(true)
	}
	return func() {
		quiet.Lock()
		defer quiet.Unlock()
		if quiet.captures--; quiet.captures == 0 && quiet.set {
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

// changeStopSignals sets or clears SA_NOCLDSTOP, leaves all else of the action
// as it is, and reports whether the flag changed. The action is read anew each
// time, since the program may have changed it.
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
