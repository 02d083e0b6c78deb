// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package record samples running programs with the kernel's perf events (perf_event_open(2)), or by
// ptrace where these are forbidden. It makes named stacks of the samples while the programs run.
//
//	rec, err := record.Run(ctx, record.Options{Targets: []int{pid}})
//	…
//	for i := range rec.Stacks {
//		…
//	}
//
// A sample has the user registers and a copy of the stack, so that frames are found by call
// frame information, not only by frame pointers. Run hands the samples to package
// recording as a stream in perf's format, which Options.Raw receives too. A copy of a stack
// is dropped once it is walked: the memory of Run depends on the number of different
// stacks, not on the time.
//
// # Permission
//
// The kernel allows samples of the user's own processes if the sysctl
// kernel.perf_event_paranoid is at most 2, the frames of the kernel if it is at most 1, and
// samples of all processes if it is at most 0. With the capability CAP_PERFMON everything is
// allowed. An error names the policy that refused an event.
//
// If a policy forbids all perf events (a container's seccomp filter, or perf_event_paranoid 3), Run
// samples the processor time by ptrace instead: see package process. A note in the result says how
// long threads stood still.
//
// # Never harm the target
//
// With perf events the package does not stop, trace or change a running process. By ptrace it stops
// threads that run, one by one, to copy their registers and stacks, and changes nothing. A program
// that Run starts waits until its events are open, and is not traced any more when it runs. It also
// runs if the recording program is killed meanwhile.
//
// It runs on Linux only. It prints nothing.
package record
