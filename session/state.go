// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
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
	ErrInUse      = errors.New("a session uses the image")
	// ErrPermission says that the system refuses what a session needs. The error
	// that wraps it says which rule does, and what can be done.
	ErrPermission = errors.New("the system does not allow it")
)

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
