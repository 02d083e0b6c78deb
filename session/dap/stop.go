// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"cmp"
	"fmt"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

func (c *client) report(r outcome) {
	if r.stop == nil && r.err == nil { // a call has begun
		c.resumed(true)
		return
	}
	c.running, c.plain = false, false
	if c.nested.active { // callNested reports it
		c.runPending()
		c.nested.first = &r
		c.pausing.Store(false)
		return
	}
	c.forget()
	c.runPending()
	c.pausing.Store(false)
	c.flush()
	switch {
	case r.over:
		c.stop, c.aborting = nil, false
		c.over(r)
	case c.aborting:
		c.proceed(c.target.abortAll, false)
	case r.err == nil && r.stop.Outer != nil:
		c.output("console", "The function called from Clew has ended: "+r.stop.String()+".\n")
		c.stop = r.stop.Outer
		c.verify()
		c.stopped(c.stop)
	case r.err != nil:
		c.output("stderr", r.err.Error()+"\n")
		c.stoppedAt("step", r.err.Error(), nil)
	default:
		c.stop = r.stop
		c.verify()
		c.stopped(r.stop)
	}
}

// flush calls Program.Stopped.
func (c *client) flush() {
	if c.program == nil || c.program.Stopped == nil {
		return
	}
	if err := c.program.Stopped(); err != nil {
		c.output("stderr", err.Error()+"\n")
	}
}

func (c *client) resumed(plain bool) {
	c.running, c.plain = true, plain
	c.stop = nil
	c.forget()
}

func (c *client) over(r outcome) {
	if c.restarting {
		c.restarting, c.ended = false, false
		c.driving.Wait()
		c.resumed(true)
		c.start()
		return
	}
	code := 0
	switch {
	case r.err != nil:
		code = 1
		c.output("stderr", r.err.Error()+"\n")
	case r.stop == nil:
	case r.stop.Reason == session.Returned:
		text := ""
		var err error
		if c.program != nil && c.program.Result != nil {
			text, code, err = c.program.Result(r.stop)
		} else {
			text = r.stop.String()
		}
		if err != nil {
			c.output("stderr", err.Error()+"\n")
		}
		if text != "" {
			c.output("stdout", text+"\n")
		}
	default:
		if code = r.stop.ExitCode; r.stop.Signal.Number != 0 {
			code = 128 + r.stop.Signal.Number // as shells count
		}
		c.output("console", r.stop.String()+"\n")
	}
	if c.program != nil {
		c.connection.write(&dap.ExitedEvent{Event: event("exited"), Body: dap.ExitedEventBody{ExitCode: code}})
		c.end()
	}
}

func (c *client) stopped(s *session.Stop) {
	if s.Err != nil {
		c.output("stderr", s.Err.Error()+"\n")
	}
	switch s.Reason {
	case session.AtBreakpoint:
		reason := sourceBreakpoint.reason()
		var hit []int
		for _, b := range c.breakpoints.At(s) {
			reason, hit = b.Own.kind.reason(), []int{b.Number}
		}
		c.stoppedAt(reason, "", hit)
	case session.AtWatchpoint:
		var hit []int
		for _, b := range c.breakpoints.At(s) {
			hit = append(hit, b.Number)
		}
		c.stoppedAt(dataBreakpoint.reason(), changeText(s.Watchpoint), hit)
	case session.Signalled, session.Trapped, session.HostFailed:
		_, description := exception(s)
		c.stoppedAt("exception", description, nil)
	default:
		reasons := map[session.Reason]string{session.AtEntry: "entry", session.Interrupted: "pause", session.RanTo: "goto"}
		c.stoppedAt(cmp.Or(reasons[s.Reason], "step"), "", nil)
	}
}

func (c *client) stoppedAt(reason, text string, hit []int) {
	c.connection.write(&dap.StoppedEvent{Event: event("stopped"), Body: dap.StoppedEventBody{
		Reason: reason, Text: text, Description: text, ThreadId: thread, AllThreadsStopped: true, HitBreakpointIds: hit}})
}

func changeText(w *session.Watchpoint) string {
	previous, current := w.Values()
	return fmt.Sprintf("%d bytes at %#x: %#x → %#x", w.Size, w.Address, frontend.Word(previous), frontend.Word(current))
}

// exception returns the name and the description of a signal or of a host function's error.
func exception(s *session.Stop) (name, description string) {
	if s.Reason == session.HostFailed {
		return "host function", s.Err.Error()
	}
	name = frontend.SignalName(s.Signal.Number)
	if cause := frontend.SignalCause(s.Signal); cause != "" {
		return name, name + ": " + cause
	}
	return name, fmt.Sprintf("%s, code %d", name, s.Signal.Code)
}

func (c *client) exceptionInfo(r *dap.ExceptionInfoRequest) (dap.Message, error) {
	if c.stop.Reason.Kind() != session.KindSignal {
		return nil, fmt.Errorf("the code has not stopped for a signal but for %v", c.stop.Reason)
	}
	name, description := exception(c.stop)
	return &dap.ExceptionInfoResponse{Response: answer(r), Body: dap.ExceptionInfoResponseBody{
		ExceptionId: name, Description: description, BreakMode: "always",
		Details: &dap.ExceptionDetails{Message: description, TypeName: name,
			FullTypeName: fmt.Sprintf("signal %d, code %d, address %#x, at %#x", c.stop.Signal.Number, c.stop.Signal.Code, c.stop.Signal.Address, c.stop.PC)}}}, nil
}
