// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"cmp"
	"sync"

	"github.com/clewdev/clew/session"
)

// Target is a session that editors can attach to. The program calls its code through the
// Target, and does not control the session otherwise while an editor is attached. The
// fields must not change after the first editor has attached.
type Target struct {
	// Sources are the texts of sources that no file has, by their paths in debugging
	// information.
	Sources map[string]string

	// Locals returns the variables of a frame as "name = value", for languages without
	// debugging information. It may be nil.
	Locals func(*session.Frame) []string

	session *session.Session

	mu     sync.Mutex
	client *client // the attached client, or nil
}

// NewTarget returns a target for a session. The caller closes the session.
func NewTarget(s *session.Session) *Target { return &Target{session: s} }

// Call calls a function as session.CallWith does. While an editor is attached, it gets the
// stops, and Call returns at the end of the call. Otherwise Call returns at the first stop.
// When the editor leaves a stopped call, the call continues.
func (t *Target) Call(function uint64, a session.Arguments) (*session.Stop, error) {
	return t.drive(func() (*session.Stop, error) {
		a.StopAtEntry = a.StopAtEntry || t.stopsAtEntry()
		return t.session.CallWith(function, a)
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

// drive runs a call. At each stop it runs the next operation of the attached client.
func (t *Target) drive(op operation) (*session.Stop, error) {
	started := false
	last := t.attached()
	if c := last; c != nil && c.program == nil {
		c.send(outcome{})
	}
	for {
		stop, err := op()
		c := t.attached()
		if c == nil && last != nil && err == nil && (stop.Outer != nil || t.session.Nested() > 0) {
			<-last.gone // at once
			op = last.left(t)
			continue
		}
		last = cmp.Or(c, last)
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
		if err == nil && stop.Reason.Kind() == session.KindExit && stop.Outer == nil {
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
			op = c.left(t)
		}
	}
}

// outcome is a report of drive to a client: a stop, or an error. The zero value reports
// that a call has begun.
type outcome struct {
	stop *session.Stop
	err  error
	over bool // the call has ended
}

// send sends a report to the loop, unless the client has gone.
func (c *client) send(r outcome) {
	select {
	case c.reports <- r:
	case <-c.gone:
	}
}
