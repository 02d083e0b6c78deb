// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package worker

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// placement keeps a worker on the processor of its tracer while its runs are short. Tracer and
// worker take turns. If each turn wakes another processor, which a virtual machine has halted, a
// single step takes three times as long.
type placement struct {
	allowed unix.CPUSet // processors on which the worker may run
	here    int         // the processor to which it is bound, or -1
}

// brief is the time for which a worker stays bound, a few times the duration of a step.
const brief = 100 * time.Microsecond

func (p *placement) init() {
	p.here = -1
	if unix.SchedGetaffinity(0, &p.allowed) != nil {
		p.allowed = unix.CPUSet{}
	}
}

// follow binds the worker to the processor of the calling thread.
func (w *Worker) follow() {
	if w.place.allowed.Count() < 2 {
		return
	}
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 || int(cpu) == w.place.here {
		return
	}
	var set unix.CPUSet
	set.Set(int(cpu))
	if unix.SchedSetaffinity(w.pid, &set) == nil {
		w.place.here = int(cpu)
	}
}

// waitBriefly waits for a bound worker for the time brief, and yields the processor to it. It then
// lets the worker run on any processor, and returns false if the worker still runs.
func (w *Worker) waitBriefly(status *unix.WaitStatus) bool {
	if w.place.here < 0 {
		return false
	}
	for begin := time.Now(); ; {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		var raw int32
		pid, _, errno := unix.RawSyscall6(unix.SYS_WAIT4, uintptr(w.pid), uintptr(unsafe.Pointer(&raw)), unix.WALL|unix.WNOHANG, 0, 0, 0)
		if errno == 0 && pid != 0 {
			*status = unix.WaitStatus(raw)
			return true
		}
		if errno != 0 || time.Since(begin) > brief {
			break
		}
	}
	unix.SchedSetaffinity(w.pid, &w.place.allowed)
	w.place.here = -1
	return false
}
