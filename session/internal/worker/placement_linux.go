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

// placement keeps a worker on the processor of its tracer for as long as it has
// not run for long. Tracer and worker take turns; where the one that goes on has
// to wake another processor, which in a virtual machine has been halted by then, a
// single step takes three times as long.
type placement struct {
	allowed unix.CPUSet // where the worker may run
	here    int         // the processor that it is bound to, -1 for none
}

// brief is how long a worker stays bound, a few times what a step takes.
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

// waitBriefly waits for the worker for as long as it stays bound, giving it the
// processor again and again, and then lets it run anywhere. It returns 0 where
// the worker runs on.
func (w *Worker) waitBriefly(status *unix.WaitStatus) int {
	if w.place.here < 0 {
		return 0
	}
	for begin := time.Now(); ; {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		var raw int32
		pid, _, errno := unix.RawSyscall6(unix.SYS_WAIT4, uintptr(w.pid), uintptr(unsafe.Pointer(&raw)), unix.WALL|unix.WNOHANG, 0, 0, 0)
		if errno == 0 && pid != 0 {
			*status = unix.WaitStatus(raw)
			return int(pid)
		}
		if errno != 0 || time.Since(begin) > brief {
			break
		}
	}
	unix.SchedSetaffinity(w.pid, &w.place.allowed)
	w.place.here = -1
	return 0
}
