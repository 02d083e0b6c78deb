// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
)

// system is this machine, which runs the recorded processes.
type system struct {
	pace  pace
	guard guard
	walks walks
}

func newSystem(frequency int) *system {
	s := &system{pace: newPace(frequency), guard: guard{patience: patience}, walks: newWalks()}
	s.Soon() // until the first samples show whether the reader compares them with the memory of processes
	return s
}

// Soon implements recording.Live.
func (s *system) Soon() { s.pace.news.Add(1) }

// StackWalked implements recording.Live.
func (s *system) StackWalked(pid, tid int32, sp, end uint64, whole bool) {
	s.walks.add(uint32(pid), uint32(tid), sp, end, whole)
}

// Now implements recording.Live.
func (*system) Now() uint64 { return now() }

// now returns the time by the clock of the kernel's records in nanoseconds: CLOCK_MONOTONIC, without the offset
// of this program's time namespace.
func now() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return uint64(t.Nano() - namespaceOffset())
}

// namespaceOffset returns the offset of CLOCK_MONOTONIC in the time namespace of this program in nanoseconds.
var namespaceOffset = sync.OnceValue(func() (offset int64) {
	b, _ := os.ReadFile("/proc/self/timens_offsets") // "monotonic SECONDS NANOSECONDS"
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "monotonic" {
			seconds, _ := strconv.ParseInt(f[1], 10, 64)
			nanoseconds, _ := strconv.ParseInt(f[2], 10, 64)
			offset = seconds*1e9 + nanoseconds
		}
	}
	return offset
})

// Open implements recording.Live.
func (s *system) Open(pid int32) (*snapshot.Snapshot, error) {
	type opened struct {
		memory   *process.Memory
		mappings []snapshot.Mapping
		remote   []snapshot.Mapping
		err      error
	}
	result := make(chan opened, 1)
	answered := s.guard.do(pid, func() {
		var o opened
		if o.memory, o.err = process.OpenMemory(int(pid)); o.err == nil {
			if o.mappings, o.err = process.Mappings(int(pid)); o.err != nil {
				o.memory.Close()
			} else {
				o.remote = remoteMappings(int(pid), o.mappings)
			}
		}
		result <- o
	})
	if !answered {
		return nil, errStuck // the memory of a late result is closed when it is collected
	}
	switch o := <-result; {
	case o.err == nil:
		return &snapshot.Snapshot{PID: int(pid), Mappings: o.mappings, Live: true,
			Memory: &guardedMemory{guard: &s.guard, pid: pid, memory: o.memory, close: o.memory.Close, remote: o.remote}}, nil
	case errors.Is(o.err, process.ErrNoProcess):
		return nil, nil
	default:
		return nil, o.err
	}
}
