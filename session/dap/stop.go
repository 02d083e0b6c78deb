// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"fmt"
	"sync"

	"github.com/google/go-dap"
	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/session"
)

// report tells the editor what a run ended with.
func (c *client) report(r outcome) {
	if r.stop == nil && r.err == nil { // a call has begun
		c.resumed(true)
		return
	}
	c.running, c.plain = false, false
	c.forget()
	c.runPending()
	c.pausing.Store(false)
	if c.program != nil && c.program.Stopped != nil {
		if err := c.program.Stopped(); err != nil {
			c.output("stderr", err.Error()+"\n")
		}
	}
	switch {
	case r.over:
		c.stop = nil
		c.over(r)
	case r.err != nil:
		c.output("stderr", r.err.Error()+"\n")
		c.stoppedAt("step", r.err.Error(), nil)
	default:
		c.stop = r.stop
		c.verify()
		c.stopped(r.stop)
	}
}

// resumed notes that code runs.
func (c *client) resumed(plain bool) {
	c.running, c.plain = true, plain
	c.stop = nil
	c.forget()
}

// over tells of the end of a call.
func (c *client) over(r outcome) {
	if c.restarting {
		c.restarting = false
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
		code = r.stop.ExitCode
		c.output("console", r.stop.String()+"\n")
	}
	if c.program != nil {
		c.connection.write(&dap.ExitedEvent{Event: event("exited"), Body: dap.ExitedEventBody{ExitCode: code}})
		c.end()
	}
}

// stopped tells of a stop inside of a call.
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
		c.stoppedAt(dataBreakpoint.reason(), c.change(s.Watchpoint), hit)
	case session.AtEntry:
		c.stoppedAt("entry", "", nil)
	case session.Interrupted:
		c.stoppedAt("pause", "", nil)
	case session.RanTo:
		c.stoppedAt("goto", "", nil)
	case session.Signalled, session.Trapped, session.HostFailed:
		_, description := c.exception(s)
		c.stoppedAt("exception", description, nil)
	default:
		c.stoppedAt("step", "", nil)
	}
}

func (c *client) stoppedAt(reason, text string, hit []int) {
	c.connection.write(&dap.StoppedEvent{Event: event("stopped"), Body: dap.StoppedEventBody{
		Reason: reason, Text: text, Description: text, ThreadId: thread, AllThreadsStopped: true, HitBreakpointIds: hit}})
}

// change says what a watchpoint saw.
func (c *client) change(w *session.Watchpoint) string {
	old, now := w.Values()
	return fmt.Sprintf("%d bytes at %#x: %#x → %#x", w.Size, w.Address, little(old), little(now))
}

// little returns the number that bytes are: sessions run on little-endian machines.
func little(b []byte) uint64 {
	var n uint64
	for i := len(b) - 1; i >= 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n
}

// codes are what a signal's code means: sigaction(2).
var codes = sync.OnceValue(func() map[[2]int]string {
	return map[[2]int]string{
		{int(unix.SIGSEGV), 1}: "address not mapped", {int(unix.SIGSEGV), 2}: "no permission for the address", {int(unix.SIGSEGV), 128}: "address not canonical, or a privileged instruction",
		{int(unix.SIGBUS), 1}: "address not aligned", {int(unix.SIGBUS), 2}: "no such physical address", {int(unix.SIGBUS), 3}: "beyond the end of the file",
		{int(unix.SIGFPE), 1}: "integer division by zero", {int(unix.SIGFPE), 2}: "integer overflow", {int(unix.SIGFPE), 3}: "floating-point division by zero",
		{int(unix.SIGFPE), 4}: "floating-point overflow", {int(unix.SIGFPE), 5}: "floating-point underflow", {int(unix.SIGFPE), 7}: "invalid floating-point operation",
		{int(unix.SIGILL), 1}: "illegal opcode", {int(unix.SIGILL), 2}: "illegal operand",
	}
})

// exception returns the name of what stopped the code, and a description.
func (c *client) exception(s *session.Stop) (name, description string) {
	if s.Reason == session.HostFailed {
		return "host function", s.Err.Error()
	}
	name = unix.SignalName(unix.Signal(s.Signal.Number))
	if name == "" {
		name = fmt.Sprintf("signal %d", s.Signal.Number)
	}
	description = fmt.Sprintf("%s, code %d", name, s.Signal.Code)
	if text := codes()[[2]int{s.Signal.Number, s.Signal.Code}]; text != "" {
		description = name + ", " + text
	}
	switch unix.Signal(s.Signal.Number) {
	case unix.SIGSEGV, unix.SIGBUS:
		description += fmt.Sprintf(", address %#x", s.Signal.Address)
	}
	return name, description
}

func (c *client) exceptionInfo(r *dap.ExceptionInfoRequest) (dap.Message, error) {
	if c.stop.Reason.Kind() != session.KindSignal {
		return nil, fmt.Errorf("the code has not stopped for a signal, but for: %v", c.stop.Reason)
	}
	name, description := c.exception(c.stop)
	return &dap.ExceptionInfoResponse{Response: answer(r), Body: dap.ExceptionInfoResponseBody{
		ExceptionId: name, Description: description, BreakMode: "always",
		Details: &dap.ExceptionDetails{Message: description, TypeName: name,
			FullTypeName: fmt.Sprintf("signal %d, code %d, address %#x, at %#x", c.stop.Signal.Number, c.stop.Signal.Code, c.stop.Signal.Address, c.stop.PC)}}}, nil
}
