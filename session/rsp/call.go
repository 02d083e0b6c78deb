// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"fmt"

	"github.com/clewdev/clew/session"
)

// call is a call of the program's.
type call struct {
	start func(entry bool) (*session.Stop, error) // entry: stop before the first instruction
	done  chan struct{}
	stop  *session.Stop
	err   error

	aside  func() error // instead of a call: what is done while nothing is called
	resume bool         // it goes on from a stop
	begun  bool
	entry  bool // it is to stop before its first instruction
}

// Call calls a function as session.CallWith does. While a client is attached it is
// the client that sees the stops and says how to go on, and Call returns when the
// call has ended; a client that holds the program holds Call too. Without a client
// Call returns at the first stop: see Continue.
func (v *Server) Call(function uint64, a session.Arguments) (*session.Stop, error) {
	return v.request(&call{start: func(entry bool) (*session.Stop, error) {
		a := a
		a.StopAtEntry = a.StopAtEntry || entry
		return v.program.CallWith(function, a)
	}})
}

// CallMain is Call for session.CallMain.
func (v *Server) CallMain(function uint64, arguments []string, a session.Arguments) (*session.Stop, error) {
	return v.request(&call{start: func(entry bool) (*session.Stop, error) {
		a := a
		a.StopAtEntry = a.StopAtEntry || entry
		return v.program.CallMain(function, arguments, a)
	}})
}

// Continue goes on from a stop that Call has returned as Call itself does. With
// Wait, or while a client is attached, the client decides when.
func (v *Server) Continue() (*session.Stop, error) {
	return v.request(&call{resume: true, start: func(bool) (*session.Stop, error) { return v.program.Continue() }})
}

// RemoveImage is session.RemoveImage, which fails for a session that is stopped, as
// it is while a client is attached and nothing is called. It waits as Call does.
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
