// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"errors"

	"github.com/clewdev/clew/session"
)

// arrive attaches a client. The session does not run: attach has stopped it.
func (v *Server) arrive(c *client) {
	v.client, v.waited = c, true
	v.running, v.interrupt, v.published, v.arrived = false, false, false, true
	v.order = order{}
	if err := errors.Join(v.addIdle(), v.images.update(v)); err != nil {
		v.failed.Add(err)
		c.notes = append(c.notes, err.Error())
	}
	v.images.events = nil // the client reads the whole list
	switch {
	case v.fresh: // decide sends the situation
	case v.next != nil: // at the start of a call, or between two stops
		v.hold(true)
	case v.call != nil: // the call waits for a client
		v.pause(situation{stop: *v.stop, quiet: true})
	case v.program.State() == session.Stopped: // a stop that Call returned
		if v.stop == nil {
			v.stop = v.here()
		}
		v.pause(situation{stop: *v.stop, quiet: v.stop.Signal.Number == 0})
	default:
		v.park()
		v.pause(situation{stop: *v.stop, quiet: true})
	}
}

// hold stops the session before it runs v.next.
func (v *Server) hold(quiet bool) {
	if v.call != nil && !v.call.begun {
		v.call.entry = true
		v.startCall()
		return
	}
	v.next = nil
	v.pause(situation{stop: *v.here(), quiet: quiet})
}

// here returns a stop at the current program counter.
func (v *Server) here() *session.Stop {
	st := &session.Stop{Reason: session.Interrupted}
	if r, err := v.program.Registers(); err == nil {
		st.PC = r.PC()
	}
	return st
}

// obey executes an order.
func (v *Server) obey(o order) {
	switch o.action {
	case actionInterrupt:
		v.halt()
	case actionDetach, actionKill:
		v.part(o)
	default:
		if v.atGuard() {
			o = order{action: actionAbort, start: gdbKill}
		}
		v.order, v.running, v.interrupt = o, true, false
		v.run()
	}
}

// halt interrupts the session for the client.
func (v *Server) halt() {
	if v.client == nil || !v.running {
		return
	}
	v.interrupt = true
	if v.fresh {
		return // decide sends the situation
	}
	if v.next != nil {
		v.hold(false)
		return
	}
	// The client waits for the program's next call.
	if v.stop == nil {
		v.stop = v.here()
	}
	v.pause(situation{stop: session.Stop{Reason: session.Interrupted, PC: v.stop.PC}})
}

// run executes an order to continue, step or abort.
func (v *Server) run() {
	switch {
	case v.order.action == actionAbort:
		v.abort()
	case v.published && v.order.action != actionContinue:
		// The client steps over its breakpoint for new code, and sees the address after it.
		v.running = false
		at := situation{stop: *v.here(), shown: registerAddress() + v.registers.machine.CodeAlign}
		at.stop.Reason = session.SteppedInstruction
		v.show(at)
	case v.announce():
	default:
		v.published = false
		v.proceed()
	}
}

// abort ends the call as a signal without a handler does.
func (v *Server) abort() {
	st := session.Stop{Reason: session.Aborted, ExitCode: -1, Signal: session.Signal{Number: int(v.order.start)}}
	v.published = false
	v.abandon()
	v.pause(situation{stop: st, exited: true})
}

// abandon aborts the code in which the session is stopped, and ends the call.
func (v *Server) abandon() {
	v.next, v.fresh = nil, false
	v.failed.Add(v.unpark())
	if v.call == nil {
		return
	}
	if v.ended {
		v.finish(v.stop, nil)
		return
	}
	stop := &session.Stop{Reason: session.Aborted, ExitCode: -1}
	var err error
	if v.program.State() == session.Stopped {
		if stop, err = v.program.Abort(); err == nil {
			v.stop = stop
		}
	}
	v.finish(stop, err)
}

// proceed resumes the session, or waits for the program.
func (v *Server) proceed() {
	switch {
	case v.call != nil && !v.call.begun:
		v.startCall()
	case v.ended:
		v.finish(v.stop, nil)
		v.park()
	case v.parked && v.atIdle(): // wait for the program's next call
	case v.call == nil && !v.parked: // at a stop that Call has returned: wait for Continue
	default:
		v.resume()
	}
}

// part detaches the client.
func (v *Server) part(o order) {
	defer close(o.done)
	c := v.client
	if c == nil {
		return
	}
	caused := v.stop == nil || c.caused(v.stop)
	c.removeAll()
	v.scratch.freeAll()
	v.client, v.running, v.published, v.arrived, v.interrupt = nil, false, false, false, false
	v.order = order{}
	switch {
	case v.call == nil || o.action == actionKill || v.atGuard():
		v.abandon()
	case v.ended:
		v.finish(v.stop, nil)
	case !v.call.begun:
		v.call.entry = false
		v.startCall()
	case v.fresh && !caused: // decide returns the stop to the program
	default:
		v.fresh = false
		v.next = v.program.Continue
	}
	v.reclaim() // before the next client attaches
}

// shutDown ends the driving goroutine.
func (v *Server) shutDown() {
	if c := v.client; c != nil {
		if v.running {
			v.show(situation{exited: true})
		}
		c.removeAll()
		v.client = nil
	}
	v.abandon()
	v.images.withdraw()
	v.scratch.freeAll()
	v.reclaim()
	v.closeIdle()
	v.over = true
}
