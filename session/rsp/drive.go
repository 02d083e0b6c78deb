// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"github.com/clewdev/clew/internal/errorlist"
	"github.com/clewdev/clew/session"
)

// action is the kind of an order.
type action uint8

const (
	actionContinue action = iota
	actionStep
	actionRange
	actionAbort     // abort the call because of a signal; its number is in start
	actionInterrupt // stop a running session
	actionDetach    // continue without the client
	actionKill      // abort the call, and continue without the client
)

// order is a request of a client's connection to the driving goroutine.
type order struct {
	action     action
	start, end uint64        // of actionRange
	done       chan struct{} // closed when a detach or kill is done
}

// situation is the state of a stopped session that a client sees.
type situation struct {
	stop   session.Stop
	exited bool   // the worker's process has ended
	shown  uint64 // program counter for the client, 0 for the worker's own
	event  event  // change of the list of symbol files, for the debugger's breakpoint there
	quiet  bool   // the client's arrival is the reason, not the code
	parked bool   // in the idle stub
}

// driver is the state of the goroutine that drives the session.
type driver struct {
	client  *client
	call    *call
	running bool // the client has resumed the session
	order   order

	// next runs the session and returns its stop. It is nil while nothing is to run.
	next func() (*session.Stop, error)

	stop      *session.Stop // the current stop; nil before the first call
	fresh     bool          // decide has not handled stop yet
	kickedNow bool          // kick may be the reason of stop
	startPC   uint64        // program counter from which the session ran to stop
	parked    bool          // the session is stopped in the idle stub
	ended     bool          // the call has returned, and the client looks at its return
	published bool          // the client handles an event of images
	arrived   bool          // the client has not received its first situation yet
	interrupt bool          // the client wants a stop
	waited    bool          // a client has been attached
	over      bool          // the driving goroutine ends

	idle    *idle
	scratch scratch
	guard   guard
	images  published
	failed  errorlist.List // errors that no caller received
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
		// The goroutine that stopped the session is about to send a request.
		for v.urgent.Load() > 0 && !v.over {
			v.receive()
		}
	}
}

// receive handles one request.
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
		return // handle the request first
	}
	v.executing, v.kicked = true, false
	v.mu.Unlock()
	v.next = nil
	v.startPC = v.here().PC
	stop, err := next()
	v.mu.Lock()
	v.executing = false
	v.kickedNow = v.kicked
	v.mu.Unlock()
	if err != nil {
		v.fail(err)
		return
	}
	v.stop, v.fresh = stop, true
}

// fail handles an error of a run. It is the error of the program's call, unless a client has stopped
// the session in the call. The client then sees the session where it was, or in the idle stub.
func (v *Server) fail(err error) {
	held := v.client != nil && v.program.State() == session.Stopped
	ofCall := v.call != nil && !(held && v.call.begun)
	if ofCall {
		v.finish(nil, err)
	} else {
		v.failed.Add(err)
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

// finish ends a call for the program.
func (v *Server) finish(stop *session.Stop, err error) {
	c := v.call
	v.call, v.ended = nil, false
	c.stop, c.err = stop, err
	close(c.done)
}

// begin handles a request of the program.
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
		return // the call begins after the client has handled the event
	}
	v.startCall()
}

// stepAside runs c.aside while nothing is called.
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

// startCall makes the call the next thing to run.
func (v *Server) startCall() {
	c := v.call
	if err := v.unpark(); err != nil {
		v.fail(err)
		return
	}
	arguments := c.arguments
	arguments.StopAtEntry = arguments.StopAtEntry || c.entry || v.client != nil && v.steps()
	v.next = func() (*session.Stop, error) {
		c.begun = true
		return c.start(arguments)
	}
}

// steps reports whether the client's last order is a step.
func (v *Server) steps() bool {
	return v.order.action == actionStep || v.order.action == actionRange
}

// decide handles a stop.
func (v *Server) decide() {
	v.fresh = false
	st := v.stop
	if st.Reason == session.Interrupted && v.kickedNow && !v.interrupt && !v.arrived {
		// Update has stopped it.
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
		// The code in the idle stub, or what the client ran there, has ended.
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
			at.Reason = session.Interrupted // the interrupt came before the call began
		}
		v.pause(situation{stop: at, quiet: v.arrived})
	}
}

// looksAtEnd reports whether the client wants to see the return of the function, and has not seen it.
func (v *Server) looksAtEnd() bool {
	if v.startPC == v.returnAddress() {
		return false
	}
	return v.interrupt || v.steps() || v.client.breakpointAt(v.returnAddress()) != nil
}

// returnAddress returns the address to which calls return: after the first instruction of
// session.ReturnImage.
func (v *Server) returnAddress() uint64 {
	i := v.program.ReturnImage()
	if i == nil {
		return 0
	}
	return i.Ranges()[0].Start + v.registers.machine.CodeAlign
}

// unwatched handles a stop without a client.
func (v *Server) unwatched(st *session.Stop) {
	switch {
	case v.call == nil: // of a former client
	case v.atGuard(): // a function that a former client called cannot return
		v.abandon()
	case v.call.entry && !v.waited && st.Reason == session.AtEntry: // wait for a client
	default:
		v.finish(st, nil)
	}
}

// pause sends the client a situation. The session then waits for the client.
func (v *Server) pause(at situation) {
	v.running, v.interrupt, v.arrived = false, false, false
	at.parked = v.parked
	v.show(at)
}

// show sends a situation to the client's connection.
func (v *Server) show(at situation) {
	select {
	case v.client.stops <- at:
	case <-v.client.gone:
	}
}

// announce publishes new images, and reports whether it has sent the client an event. A client that
// steps would mistake the event for the end of its step, so it gets the event later.
func (v *Server) announce() bool {
	v.changed.Store(false)
	if v.order.action != actionContinue {
		return false
	}
	v.failed.Add(v.images.update(v))
	if v.client == nil || !v.client.learns() || len(v.images.events) == 0 {
		v.images.events = nil // a later client reads the whole list
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

// resume makes the client's order the next thing to run.
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
