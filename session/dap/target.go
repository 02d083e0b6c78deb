// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"sync"

	"github.com/clewdev/clew/session"
)

// Target is a session that editors can attach to. The program calls its code
// through the Target; its other methods of controlling the session are left to
// the editor while one is attached. The fields are not changed after that.
type Target struct {
	// Sources are the sources that are in no file, by the paths that debugging
	// information names them with.
	Sources map[string]string

	// Locals returns what a language without debugging information has to show of
	// a frame, as "name = value". It may be nil.
	Locals func(*session.Frame) []string

	session *session.Session

	mu     sync.Mutex
	client *client // that is attached, or nil
}

// NewTarget makes a target of a session. The session stays the caller's.
func NewTarget(s *session.Session) *Target { return &Target{session: s} }

// Call calls a function as session.CallWith does. While an editor is attached,
// the stops are the editor's: Call returns when the call has ended. Without one
// it returns at the first stop, with which the caller does what it wants. When the
// editor leaves a stopped call, it goes on.
func (t *Target) Call(function uint64, a session.Arguments) (*session.Stop, error) {
	return t.drive(func() (*session.Stop, error) {
		a.StopAtEntry = a.StopAtEntry || t.stopsAtEntry()
		return t.session.CallWith(function, a)
	})
}

// CallMain is Call for session.CallMain.
func (t *Target) CallMain(function uint64, arguments []string, a session.Arguments) (*session.Stop, error) {
	return t.drive(func() (*session.Stop, error) {
		a.StopAtEntry = a.StopAtEntry || t.stopsAtEntry()
		return t.session.CallMain(function, arguments, a)
	})
}

// operation runs code until a stop.
type operation func() (*session.Stop, error)

func (t *Target) attached() *client {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.client
}

func (t *Target) stopsAtEntry() bool {
	c := t.attached()
	return c != nil && c.stopOnEntry.Load()
}

// drive runs a call, with what the attached client wants at each stop.
func (t *Target) drive(op operation) (*session.Stop, error) {
	started := false
	if c := t.attached(); c != nil && c.program == nil {
		c.send(outcome{}) // the loop did not know of the call
	}
	for {
		stop, err := op()
		c := t.attached()
		if err != nil && (c == nil || !started || t.session.State() != session.Stopped) {
			if c != nil {
				c.send(outcome{err: err, over: true})
			}
			return nil, err
		}
		started = true
		if c == nil {
			return stop, nil
		}
		if err == nil && stop.Reason.Kind() == session.KindExit {
			c.send(outcome{stop: stop, over: true})
			return stop, nil
		}
		if err == nil && stop.Reason == session.Interrupted && c.waiting.Load() && c.runPending() && !c.pausing.Load() {
			op = t.session.Continue
			continue
		}
		c.send(outcome{stop: stop, err: err})
		select {
		case op = <-c.resume:
		case <-c.gone:
			op = t.session.Continue
			if c.aborts {
				op = t.session.Abort
			}
		}
	}
}

// outcome is what drive tells a client: a stop, or why there was none. The zero
// value says that a call has begun.
type outcome struct {
	stop *session.Stop
	err  error
	over bool // the call has ended
}

// send passes a report on, unless the client is gone.
func (c *client) send(r outcome) {
	select {
	case c.reports <- r:
	case <-c.gone:
	}
}
