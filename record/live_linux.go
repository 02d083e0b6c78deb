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
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/snapshot/process"
)

// system is this machine, which runs the recorded processes.
type system struct {
	soon atomic.Bool // the reader wants samples soon after they are taken
}

// soon is the time between looks at the buffers if the reader compares samples with the memory of
// processes. Each look takes some 50 µs.
const soon = 5 * time.Millisecond

// Soon implements recording.Live.
func (s *system) Soon() { s.soon.Store(true) }

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
func (*system) Open(pid int32) (*snapshot.Snapshot, error) {
	m, err := process.OpenMemory(int(pid))
	if err == nil {
		var mappings []snapshot.Mapping
		if mappings, err = process.Mappings(int(pid)); err == nil {
			return &snapshot.Snapshot{PID: int(pid), Mappings: mappings, Memory: m, Live: true}, nil
		}
		m.Close()
	}
	if errors.Is(err, process.ErrNoProcess) {
		err = nil
	}
	return nil, err
}
