// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package record

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"

	"github.com/clewdev/clew/stack/recording"
)

// Options say what to sample. One of Targets, Command, All and Cgroup must be set.
type Options struct {
	// Targets are the IDs of running processes. Threads and processes that they start
	// meanwhile are sampled too.
	Targets []int

	// Command is started, and sampled from its first instruction until it exits. If the recording
	// ends first, Run calls the command's Cancel, or sends it SIGTERM if there is none, and waits
	// until it exits. A command that cannot be sampled is killed before it runs.
	Command *exec.Cmd

	All    bool   // sample all processes
	Cgroup string // a control group of version 2, all of whose processes are sampled: its directory, or its path in /proc/PID/cgroup

	// Duration, if not 0, ends the recording after this time. It begins once the events are open,
	// because opening them can take longer than a short recording.
	Duration time.Duration

	// Event is what is sampled: the name of a software or hardware event in perf's list
	// ("cpu-clock", "page-faults", "cycles"), or a tracepoint ("sched:sched_switch"). "" stands
	// for cpu-clock, the time on a processor.
	Event string

	// OffCPU records where threads wait and for how long, instead of where they run: see
	// recording.Options.OffCPU. A thread stops running in the kernel, so this needs the permission
	// for the kernel's frames. Event, Frequency and Period must not be set.
	OffCPU bool

	// Wall records both: the time on a processor, by samples, and that of waits. All stacks are of
	// one event, wall-clock, and weigh nanoseconds. It needs the permission for the kernel's frames,
	// too. OffCPU, Event, Period and NoKernel must not be set.
	Wall bool

	// Frequency is the number of samples a second on each processor; 0 stands for
	// DefaultFrequency. The kernel adapts the period of the event to it.
	Frequency int

	// Period, if not 0, replaces the frequency: a sample for each Period events.
	Period uint64

	// Deferred takes the user part of the kernel's call chains when threads return to user mode, once for all
	// samples in between, and with pages that have to be read for it. It needs Linux 6.19. The
	// kernel follows frame pointers only up then: stacks of Go programs that lead from the
	// scheduler's stack to a goroutine's can lack callers. OffCPU must not be set.
	Deferred bool

	// StackSize is the number of bytes that are copied of a stack, at most MaxStackSize. 0 stands
	// for as much as the kernel's buffer can take: MaxStackSize with up to 260 samples a second
	// where the buffer may have 8 MiB. With 0, a thread whose stack is longer gets up to four times as much.
	StackSize int

	// NoKernel leaves out the frames of the kernel.
	NoKernel bool

	// Every, if not 0, divides the recording into intervals of this time, and Interval is called
	// after each but the last, which Run returns. The Recording is valid only during the call.
	// Memory depends on the different stacks of an interval. Interval should not wait, because
	// no stacks are walked meanwhile.
	Every    time.Duration
	Interval func(*recording.Recording) error

	// Raw receives the recording in the format of perf record -o -, if it is not nil.
	Raw io.Writer

	// Status is called a few times a second, from the goroutine that reads the samples.
	Status func(Status)

	// Recording says how frames are named.
	Recording recording.Options
}

// DefaultFrequency is the frequency of Options that set none.
const DefaultFrequency = 99

// MaxStackSize is the largest size of a stack copy in bytes: a record has less than 64 KiB.
const MaxStackSize = 63 << 10

// Status is the state of a running recording.
type Status struct {
	Elapsed time.Duration
	Samples uint64 // that were read
	Threads int    // that have samples, and have not ended
	Lost    uint64 // records that the kernel could not write, because its buffer was full
	Bytes   uint64 // of records that were read
	Others  uint64 // of these bytes, those of records that are not samples: names, mappings, starts and ends
	Ended   bool   // no samples follow; the frames are being named
}

// ErrUnsupported is wrapped by errors about an event that the machine or the kernel does not
// have.
var ErrUnsupported = errors.New("the event is not supported here")

// ErrRefused is wrapped by errors about events that the kernel's policy refuses.
var ErrRefused = errors.New("the kernel refuses the event")

func (o *Options) check() error {
	n := 0
	for _, set := range []bool{len(o.Targets) > 0, o.Command != nil, o.All, o.Cgroup != ""} {
		if set {
			n++
		}
	}
	switch {
	case n != 1:
		return errors.New("record: one of Targets, Command, All and Cgroup must be set")
	case o.Every < 0 || o.Every > 0 != (o.Interval != nil):
		return errors.New("record: Every must be positive, and Interval be set with it")
	case o.Duration < 0:
		return errors.New("record: the duration is negative")
	case o.Frequency < 0:
		return errors.New("record: the frequency is negative")
	case o.OffCPU && (o.Event != "" || o.Frequency != 0 || o.Period != 0 || o.NoKernel):
		return errors.New("record: OffCPU excludes Event, Frequency, Period and NoKernel")
	case o.OffCPU && o.Deferred:
		return errors.New("record: OffCPU excludes Deferred")
	case o.Wall && (o.OffCPU || o.Event != "" || o.Period != 0 || o.NoKernel):
		return errors.New("record: Wall excludes OffCPU, Event, Period and NoKernel")
	case o.StackSize < 0 || o.StackSize > MaxStackSize:
		return errors.New("record: the size of stack copies is out of range")
	}
	return nil
}

// Run samples until the context ends, the duration is over, the command exits, or all targets have
// exited. If the samples cannot be read to the end, Run returns those that it has, and an error.
func Run(ctx context.Context, opts Options) (*recording.Recording, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	return run(ctx, &opts)
}
