// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/stack/recording"
)

// usage is what a process had used when the recording began.
type usage struct {
	pid       int
	name      string
	processor time.Duration
}

// usages returns the processor time of the processes that the options name.
func usages(opts *Options) (list []usage) {
	if opts.Command != nil || opts.Every > 0 || opts.Event != "" && opts.Event != "cpu-clock" || opts.Period != 0 {
		return nil
	}
	for _, pid := range opts.Targets {
		u := usage{pid: pid}
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		u.name = string(bytes.TrimSpace(name))
		u.processor, _ = processorTime(pid)
		list = append(list, u)
	}
	return list
}

// processorTime returns the time that all threads of a process have run, and whether it is known.
func processorTime(pid int) (time.Duration, bool) {
	const sched = 2 // CPUCLOCK_SCHED, as clock_getcpuclockid(3) makes the IDs of clocks
	var t unix.Timespec
	err := unix.ClockGettime(^int32(pid)<<3|sched, &t)
	return time.Duration(t.Nano()), err == nil
}

// unsampled returns a note for each process without a sample, if others have some. It must be called when the
// recording has just ended.
func unsampled(before []usage, opts *Options) func(*recording.Recording) []string {
	used := make(map[int]string)
	for _, u := range before {
		if now, ok := processorTime(u.pid); ok {
			used[u.pid] = fmt.Sprintf(": it used %v of processor time", max(now-u.processor, 0).Round(time.Microsecond))
		}
	}
	return func(r *recording.Recording) (notes []string) {
		sampled := make(map[int]bool)
		for i := range r.Threads {
			sampled[int(r.Threads[i].PID)] = true
		}
		if r.Samples == 0 || sampled[0] { // PID 0 stands for several threads
			return nil
		}
		for _, u := range before {
			if sampled[u.pid] {
				continue
			}
			note := fmt.Sprintf("process %d (%s) has no sample", u.pid, u.name)
			if opts.OffCPU || opts.Wall {
				note += ": no wait of it began meanwhile; 'clew stack PID' shows where it is"
			} else {
				note += fmt.Sprintf("%s; a sample stands for %v; a higher --frequency, --wall or --off-cpu shows more", used[u.pid], opts.samplePeriod())
			}
			notes = append(notes, note)
		}
		return notes
	}
}

// samplePeriod returns the time on a processor for which a sample stands.
func (o *Options) samplePeriod() time.Duration {
	frequency := o.Frequency
	if frequency == 0 {
		frequency = DefaultFrequency
	}
	return (time.Second / time.Duration(frequency)).Round(10 * time.Microsecond)
}
