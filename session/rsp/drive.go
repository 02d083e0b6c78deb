// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"github.com/clewdev/clew/session"
)

// action is what a client wants done.
type action uint8

const (
	actionContinue action = iota
	actionStep
	actionRange
	actionAbort     // abort the call, as a signal does: its number is in start
	actionInterrupt // stop, if it runs
	actionDetach    // go on without the client
	actionKill      // abort the call, and go on without the client
)

// order is what a client's connection tells the driving goroutine.
type order struct {
	action     action
	start, end uint64        // of actionRange
	done       chan struct{} // closed when a detach or kill is done
}

// situation is where the session stands when a client looks at it.
type situation struct {
	stop   session.Stop
	exited bool   // the worker's process has ended
	shown  uint64 // program counter that is shown, 0 for the worker's own
	event  event  // that is shown where debuggers learn of new code
	quiet  bool   // because the client came, not for a reason of the code's
	parked bool   // in the idle stub
}

// driver is what the goroutine that drives the session knows.
type driver struct {
	client  *client
	call    *call
	running bool // the client has let the session run
	order   order

	// next runs the session, and gives where it stops then; it is nil while all
	// wait.
	next func() (*session.Stop, error)

	stop      *session.Stop // where the session stands; nil where it was not called
	fresh     bool          // stop is not dealt with
	ours      bool          // kick may be why it stopped
	before    uint64        // program counter from which it ran to there
	parked    bool          // the session is stopped in the idle stub
	ended     bool          // the call has returned, and the client looks at it
	published bool          // the client looks at what is published
	arrived   bool          // the client has not been told yet where the session stands
	interrupt bool          // the client wants a stop
	waited    bool          // there was a client
	over      bool

	idle    *idle
	scratch scratch
	guard   guard
	images  published
	failed  failures
}

// drive runs until the server is closed.
func (v *Server) drive() {
	defer close(v.closed)
	for !v.over {
		switch {
		case v.fresh:
			v.decide()
		case v.next != nil:
			v.execute()
		default:
			v.receive()
		}
		if v.client == nil {
			v.reclaim()
		}
		// Whoever stopped the session for it is about to tell something.
		for v.urgent.Load() > 0 && !v.over {
			v.receive()
		}
	}
}

// receive takes one thing that the driver is told.
func (v *Server) receive() {
	calls := v.calls
	if v.call != nil || v.fresh || v.next != nil || v.client != nil && !v.running {
		calls = nil
	}
	select {
	case c := <-calls:
		v.begin(c)
	case c := <-v.arrivals:
		v.urgent.Add(-1)
		v.arrive(c)
	case o := <-v.orders:
		v.urgent.Add(-1)
		v.obey(o)
	case <-v.closing:
		v.urgent.Add(-1)
		v.shutDown()
	}
}

// execute runs the session until it stops.
func (v *Server) execute() {
	next := v.next
	if v.changed.Load() && v.client != nil {
		v.next = nil
		if v.announce() {
			return
		}
	}
	v.next = next
	v.mu.Lock()
	if v.urgent.Load() > 0 {
		v.mu.Unlock()
		return // there is something to look at before
	}
	v.executing, v.kicked = true, false
	v.mu.Unlock()
	v.next = nil
	v.before = v.here().PC
	stop, err := next()
	v.mu.Lock()
	v.executing = false
	v.ours = v.kicked
	v.mu.Unlock()
	if err != nil {
		v.fail(err)
		return
	}
	v.stop, v.fresh = stop, true
}

// fail gives up what was to run. The program gets the error of its call, but for one
// that a client has stopped in the middle: the client sees that the session is where
// it was, or waits for another call.
func (v *Server) fail(err error) {
	stands := v.client != nil && v.program.State() == session.Stopped
	ofCall := v.call != nil && !(stands && v.call.begun)
	if ofCall {
		v.finish(nil, err)
	} else {
		v.failed.add(err)
	}
	if v.client == nil {
		return
	}
	if v.program.State() != session.Stopped {
		v.park()
	}
	if !ofCall || v.arrived {
		v.pause(situation{stop: *v.here(), quiet: true})
	}
}

// finish gives a call back to the program.
func (v *Server) finish(stop *session.Stop, err error) {
	c := v.call
	v.call, v.ended = nil, false
	c.stop, c.err = stop, err
	close(c.done)
}

// begin starts a call of the program's.
func (v *Server) begin(c *call) {
	v.call = c
	if c.aside != nil {
		v.stepAside(c)
		return
	}
	wait := v.options.Wait && !v.waited && v.client == nil
	if c.resume {
		c.begun = true
		if v.parked || v.program.State() != session.Stopped {
			v.finish(nil, session.ErrNotStopped)
			return
		}
		if !wait {
			v.resume()
		}
		return
	}
	c.entry = wait
	if v.client != nil && v.announce() {
		return // it begins when the client has looked
	}
	v.startCall()
}

// stepAside does what wants an idle session.
func (v *Server) stepAside(c *call) {
	parked := v.parked
	err := v.unpark()
	if err == nil {
		err = c.aside()
	}
	v.finish(v.stop, err)
	if parked {
		v.park()
	}
}

// startCall has the call run from its beginning.
func (v *Server) startCall() {
	c := v.call
	if err := v.unpark(); err != nil {
		v.fail(err)
		return
	}
	entry := c.entry || v.client != nil && (v.order.action == actionStep || v.order.action == actionRange)
	v.next = func() (*session.Stop, error) {
		c.begun = true
		return c.start(entry)
	}
}

// decide deals with a stop.
func (v *Server) decide() {
	v.fresh = false
	st := v.stop
	if st.Reason == session.Interrupted && v.ours && !v.interrupt && !v.arrived {
		// Update stopped it.
		if v.client == nil || !v.announce() {
			v.resume()
		}
		return
	}
	if v.client == nil {
		v.unwatched(st)
		return
	}
	end := st.Reason.Kind() == session.KindExit
	switch {
	case st.Reason == session.ExitedProcess && !v.arrived:
		v.parked = false
		if v.call != nil {
			v.finish(st, nil)
		}
		v.pause(situation{stop: *st, exited: true})
	case end && v.call == nil:
		// The idle stub, or what the client ran in its place, is gone.
		v.park()
		v.pause(situation{stop: *v.stop, quiet: true})
	case end && st.Reason == session.Returned && !v.arrived && v.looksAtEnd():
		v.ended = true
		at := *st
		at.PC = v.returnAddress()
		v.pause(situation{stop: at, shown: at.PC})
	case end:
		v.finish(st, nil)
		v.park()
		if v.arrived || v.interrupt {
			v.pause(situation{stop: *v.stop, quiet: v.arrived})
		}
	default:
		at := *st
		if v.interrupt && st.Reason == session.AtEntry {
			at.Reason = session.Interrupted // before the call had begun
		}
		v.pause(situation{stop: at, quiet: v.arrived})
	}
}

// looksAtEnd reports whether the client wants to see that the function returned,
// and has not seen it.
func (v *Server) looksAtEnd() bool {
	if v.before == v.returnAddress() {
		return false
	}
	return v.interrupt || v.order.action == actionStep || v.order.action == actionRange || v.client.breakpointAt(v.returnAddress()) != nil
}

// returnAddress is where calls return to: behind the first instruction of the
// image.
func (v *Server) returnAddress() uint64 {
	i := v.program.ReturnImage()
	if i == nil {
		return 0
	}
	return i.Ranges()[0].Start + v.registers.machine.CodeAlign
}

// unwatched deals with a stop that no client sees.
func (v *Server) unwatched(st *session.Stop) {
	switch {
	case v.call == nil: // of a client that is gone
	case v.atGuard(): // a function that it called has nowhere to return to
		v.abandon()
	case v.call.entry && !v.waited && st.Reason == session.AtEntry:
		// A client will come.
	default:
		v.finish(st, nil)
	}
}

// pause shows the client where the session stands, and waits for it.
func (v *Server) pause(at situation) {
	v.running, v.interrupt, v.arrived = false, false, false
	at.parked = v.parked
	v.show(at)
}

// show tells the client's connection where the session stands.
func (v *Server) show(at situation) {
	select {
	case v.client.stops <- at:
	case <-v.client.gone:
	}
}

// announce makes what has changed of the images known, and shows it to the client
// if there is something. One that steps would take it for the end of its step: it
// is shown later.
func (v *Server) announce() bool {
	v.changed.Store(false)
	if v.order.action != actionContinue {
		return false
	}
	v.failed.add(v.images.update(v))
	if v.client == nil || !v.client.learns() {
		v.images.events = nil // one that comes later reads the list
		return false
	}
	if len(v.images.events) == 0 {
		v.images.events = nil
		return false
	}
	at := situation{shown: registerAddress(), event: v.images.events[0]}
	v.images.events = v.images.events[1:]
	v.published = true
	if v.stop != nil {
		at.stop = *v.stop
	}
	v.running = false
	v.show(at)
	return true
}

// resume lets the session go on in the way of the client's order.
func (v *Server) resume() {
	switch o := v.order; o.action {
	case actionStep:
		v.next = v.program.StepInstruction
	case actionRange:
		v.next = func() (*session.Stop, error) { return v.program.StepRange(o.start, o.end) }
	default:
		v.next = v.program.Continue
	}
}
