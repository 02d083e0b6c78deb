// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/session"
)

// guard is a hardware breakpoint at the program's entry point. A function that lldb calls returns to
// the entry point, where lldb has a breakpoint (its ThreadPlanCallFunction). The code there starts
// the program: the worker must not run it, because it would initialize the runtime of this process
// again. The guard is set while a function that a client has called may return.
type guard struct {
	address uint64
	id      int // 0 if it is not set
}

// programEntry returns the entry point of this program, or 0.
func programEntry() uint64 {
	entry, _ := auxiliary(atEntry)
	return entry
}

// watchEntry sets the guard while a function that the client has called may return to the entry
// point, and removes it otherwise, because there are few debug registers.
func (c *client) watchEntry() error {
	v := c.server
	address := programEntry()
	b := c.breakpointAt(address)
	if address == 0 || b == nil || !b.passive {
		return nil
	}
	if len(c.saved) == 0 {
		return v.removeGuard()
	}
	if v.guard.id != 0 {
		return nil
	}
	x, err := v.program.Break(address, &session.BreakpointOptions{Hardware: true})
	if err != nil {
		return fmt.Errorf("no breakpoint at the function's return address: %w", err)
	}
	v.guard = guard{address, x.ID}
	return nil
}

func (v *Server) removeGuard() error {
	id := v.guard.id
	v.guard = guard{}
	if id == 0 {
		return nil
	}
	if err := v.program.Remove(id); !errors.Is(err, session.ErrNotFound) {
		return err
	}
	return nil
}

// atGuard reports whether the session is stopped at the guard.
func (v *Server) atGuard() bool {
	return v.guard.id != 0 && v.program.State() == session.Stopped && v.here().PC == v.guard.address
}
