// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrRunning    = errors.New("the session is running")
	ErrNotRunning = errors.New("the session is not running")
	ErrStopped    = errors.New("the session is stopped in a call; continue or abort it first")
	ErrNotStopped = errors.New("the session is not stopped")
	ErrClosed     = errors.New("the session is closed")
	ErrArguments  = errors.New("wrong arguments of a call")
	ErrAddress    = errors.New("wrong address")
	ErrNotFound   = errors.New("not found")
	ErrThread     = errors.New("the session belongs to another thread (Options.Locked)")
	ErrInUse      = errors.New("in use")
	// ErrPermission says that the system refuses what a session needs. The error
	// that wraps it says which rule does, and what can be done.
	ErrPermission = errors.New("the system does not allow it")
)

// failure is an error whose text says all by itself, and that errors.Is takes for
// one of those above.
func failure(kind error, format string, arguments ...any) error {
	return &failed{fmt.Errorf(format, arguments...), kind}
}

type failed struct{ text, kind error }

func (f *failed) Error() string { return f.text.Error() }

func (f *failed) Unwrap() []error { return []error{f.kind, f.text} }

// State is what a session does.
type State uint8

const (
	// Idle: nothing was called yet.
	Idle State = iota
	// Running: a call or a resume has not returned yet.
	Running
	// Stopped: inside of a call.
	Stopped
	// Exited: the last call has returned, was aborted, or has ended its process.
	Exited
	// Closed: by Close.
	Closed
)

func (s State) String() string {
	return [...]string{"idle", "running", "stopped", "exited", "closed"}[s]
}
