// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package worker is the mechanism below a debug session: a process that shares
// this program's address space and that this program traces. It starts one,
// reads and sets its registers, resumes it, and waits for it.
//
// A worker has no code of its own but an endless pause. Whoever uses it sets its
// registers and resumes it. No signal ever reaches it: all are blocked, those of
// faults are taken by the tracer.
//
// The package knows nothing of images, breakpoints and calls.
package worker

import "errors"

// ErrGone says that the worker's process has ended.
var ErrGone = errors.New("the worker has ended")

// EventKind is what Wait waited for.
type EventKind uint8

const (
	Stopped  EventKind = iota // by a signal that it will not get, a trap among them
	Exited                    // by exit_group or exit: Event.Code
	Killed                    // by Kill, or from outside
	Replaced                  // it called execve, and was killed for it
)

// Event is why a worker no longer runs.
type Event struct {
	Kind   EventKind
	Signal int    // number
	Code   int    // si_code, or the exit code
	Addr   uint64 // si_addr
	PID    int    // si_pid of a signal that a process sent
}

// Options says what a worker has.
type Options struct {
	StackSize int // bytes
}

// Bytes around the thread pointer that a worker has for thread-local storage.
const (
	TLSBelow = 64 << 10
	TLSAbove = 64 << 10
)
