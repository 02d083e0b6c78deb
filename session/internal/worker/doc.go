// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package worker starts and controls workers, the processes of debug sessions. A worker shares this
// program's address space, and this program traces it. The package starts a worker, reads and sets
// its registers, resumes it, and waits for it.
//
// A worker has no code except an endless pause: a caller sets its registers and resumes it. No signal
// reaches a worker: it blocks all, and the tracer takes those of faults.
//
// The package knows nothing of images, breakpoints and calls.
package worker

import "errors"

// ErrGone means that the worker's process has ended.
var ErrGone = errors.New("the worker has ended")

// EventKind is the kind of an Event.
type EventKind uint8

const (
	Stopped  EventKind = iota // by a signal, also of a trap; the worker does not receive it
	Exited                    // by exit_group or exit: Event.Code
	Killed                    // by Kill, or from outside
	Replaced                  // it called execve, and was killed for that
)

// Event is the reason why a worker no longer runs.
type Event struct {
	Kind   EventKind
	Signal int    // number
	Code   int    // si_code, or the exit code
	Addr   uint64 // si_addr
	PID    int    // si_pid of a signal that a process sent
}

// Options are the options of Start.
type Options struct {
	StackSize int // bytes
}

// Sizes in bytes of a worker's thread-local storage on both sides of the thread pointer.
const (
	TLSBelow = 64 << 10
	TLSAbove = 64 << 10
)
