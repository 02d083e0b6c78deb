// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"fmt"

	"github.com/clewdev/clew/session"
)

// call is a request of the program: a call, a resume, or a function for an idle session.
type call struct {
	arguments session.Arguments
	start     func(session.Arguments) (*session.Stop, error)
	resume    bool         // continue from a stop instead
	aside     func() error // run this while nothing is called instead

	begun bool
	entry bool // stop before the first instruction

	done chan struct{} // closed after stop and err are set
	stop *session.Stop
	err  error
}

// Call calls a function as session.CallWith does. While a client is attached, the client sees the
// stops and decides how to continue; Call returns when the call has ended. A client that has stopped
// the worker blocks Call. Without a client Call returns at the first stop: see Continue.
func (v *Server) Call(function uint64, a session.Arguments) (*session.Stop, error) {
	return v.request(&call{arguments: a, start: func(a session.Arguments) (*session.Stop, error) {
		return v.program.CallWith(function, a)
	}})
}

// CallMain is Call for session.CallMain.
func (v *Server) CallMain(function uint64, arguments []string, a session.Arguments) (*session.Stop, error) {
	return v.request(&call{arguments: a, start: func(a session.Arguments) (*session.Stop, error) {
		return v.program.CallMain(function, arguments, a)
	}})
}

// Continue continues from a stop that Call has returned, and returns as Call does. With Options.Wait,
// or while a client is attached, the client decides when.
func (v *Server) Continue() (*session.Stop, error) { return v.request(&call{resume: true}) }

// RemoveImage is session.RemoveImage. While a client is attached the session is always stopped, which
// session.RemoveImage refuses. Like Call, RemoveImage waits for a client that has stopped the worker.
func (v *Server) RemoveImage(i *session.Image) error {
	_, err := v.request(&call{aside: func() error { return v.program.RemoveImage(i) }})
	return err
}

func (v *Server) request(c *call) (*session.Stop, error) {
	c.done = make(chan struct{})
	select {
	case v.calls <- c:
	case <-v.closed:
		return nil, fmt.Errorf("the server is closed: %w", session.ErrClosed)
	}
	<-c.done
	return c.stop, c.err
}
