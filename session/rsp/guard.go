// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/session"
)

// A function that lldb calls returns to the program's entry, where it has a
// breakpoint (its ThreadPlanCallFunction). That code starts the program: were it to
// run once more, in the worker, the runtime of this process would be initialised
// anew under its feet. The guard is a hardware breakpoint there.

// programEntry returns the address that this program was started at, or 0.
func programEntry() uint64 {
	entry, _ := auxiliary(atEntry)
	return entry
}

// guard is set from when a client calls a function until the call of the program's,
// in which it does so, is over.
type guard struct {
	address uint64
	id      int // 0 where there is none
}

// watchEntry has the guard set where a function that the client has called may
// return to the entry, and not where no such call is under way: there are few debug
// registers.
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
		return fmt.Errorf("no breakpoint where the function returns to: %w", err)
	}
	v.guard = guard{address, x.ID}
	return nil
}

func (v *Server) removeGuard() error {
	id := v.guard.id
	if id == 0 {
		return nil
	}
	v.guard = guard{}
	if err := v.program.Remove(id); err != nil && !errors.Is(err, session.ErrNotFound) {
		return err
	}
	return nil
}

// atGuard reports whether the session stands where it must not go on.
func (v *Server) atGuard() bool {
	return v.guard.id != 0 && v.program.State() == session.Stopped && v.here().PC == v.guard.address
}
