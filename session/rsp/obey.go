// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"errors"

	"github.com/clewdev/clew/session"
)

// arrive attaches a client. The session does not run: it was stopped for it.
func (v *Server) arrive(c *client) {
	v.client, v.waited = c, true
	v.running, v.interrupt, v.published, v.arrived = false, false, false, true
	v.order = order{}
	if err := errors.Join(v.addIdle(), v.images.update(v)); err != nil {
		v.failed.add(err)
		c.notes = append(c.notes, err.Error())
	}
	v.images.events = nil // it reads the list now
	switch {
	case v.fresh: // decide tells it
	case v.next != nil: // it was about to run: at a call's start, or between two stops
		v.hold(true)
	case v.call != nil: // held for a client
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

// hold stops what is about to run before it does.
func (v *Server) hold(quiet bool) {
	if v.call != nil && !v.call.begun {
		v.call.entry = true
		v.startCall()
		return
	}
	v.next = nil
	v.pause(situation{stop: *v.here(), quiet: quiet})
}

// here makes a stop of where the session stands.
func (v *Server) here() *session.Stop {
	st := &session.Stop{Reason: session.Interrupted}
	if r, err := v.program.Registers(); err == nil {
		st.PC = r.PC()
	}
	return st
}

// obey does what a client wants.
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
		v.goOn()
	}
}

// halt stops the session for a client that wants it to.
func (v *Server) halt() {
	if v.client == nil || !v.running {
		return
	}
	v.interrupt = true
	if v.fresh {
		return // decide shows it
	}
	if v.next != nil {
		v.hold(false)
		return
	}
	// It waits for the program to call something.
	if v.stop == nil {
		v.stop = v.here()
	}
	v.pause(situation{stop: session.Stop{Reason: session.Interrupted, PC: v.stop.PC}})
}

// goOn is what a client's order to run does.
func (v *Server) goOn() {
	switch {
	case v.order.action == actionAbort:
		v.abort()
	case v.published && v.order.action != actionContinue:
		// It steps over its breakpoint there, and arrives behind it.
		v.running = false
		at := situation{stop: *v.here(), shown: registerAddress() + v.registers.machine.CodeAlign}
		at.stop.Reason = session.SteppedInstruction
		v.show(at)
	case v.announce():
	default:
		v.published = false
		v.onward()
	}
}

// abort ends the call as a signal does that nobody handles.
func (v *Server) abort() {
	st := session.Stop{Reason: session.Aborted, ExitCode: -1, Signal: session.Signal{Number: int(v.order.start)}}
	v.published = false
	v.abandon()
	v.pause(situation{stop: st, exited: true})
}

// abandon aborts what the session is stopped in, and the call ends.
func (v *Server) abandon() {
	v.next, v.fresh = nil, false
	if err := v.unpark(); err != nil {
		v.failed.add(err)
	}
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

// onward lets the session run, or wait for the program.
func (v *Server) onward() {
	switch {
	case v.call != nil && !v.call.begun:
		v.startCall()
	case v.ended:
		v.finish(v.stop, nil)
		v.park()
	case v.parked && v.atIdle():
		// The program's next call goes on.
	case v.call == nil && !v.parked:
		// A stop that Call returned: Continue goes on.
	default:
		v.resume()
	}
}

// part lets a client go.
func (v *Server) part(o order) {
	defer close(o.done)
	c := v.client
	if c == nil {
		return
	}
	ours := v.stop == nil || c.caused(v.stop)
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
	case v.fresh && !ours: // decide gives it to the program
	default:
		v.fresh = false
		v.next = v.program.Continue
	}
	v.reclaim() // before the next client comes
}

// shutDown ends the driver.
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
