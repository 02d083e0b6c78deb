// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"cmp"
	"errors"
	"time"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

// An expression can call a function while a call is stopped. The goroutine of drive makes the nested
// call. Meanwhile the loop answers requests in awaitNested, which refuse what needs a stop.

// nested is the state of a nested call of an expression.
type nested struct {
	active    bool     // evaluate waits for its first stop
	first     *outcome // that stop
	request   int      // the sequence number of evaluate
	cancelled bool     // by the client
}

var (
	errNoCall     = errors.New("functions can be called only while a call is stopped")
	errOften      = errors.New("a hover or watch expression cannot call functions, because the editor evaluates it often; evaluate it in the debug console")
	errNestedGone = errors.New("the function was aborted, because debugging ends")
)

// callNested is expression.Context.Call.
func (c *client) callNested(_ value.Frame, function value.Value, arguments []value.Value) (value.Value, error) {
	if c.stop == nil || c.running {
		return value.Value{}, errNoCall
	}
	call, err := c.calls.Prepare(function, arguments)
	if err != nil {
		return value.Value{}, err
	}
	outer := c.stop
	// The editor does not learn of the call: frames and references stay valid.
	c.running, c.plain, c.stop = true, false, nil
	c.nested = nested{active: true, request: c.sequence}
	c.resume <- func() (*session.Stop, error) { return c.calls.Start(call.Function, call.Arguments, call.Result) }
	c.awaitNested()
	r, cancelled := *c.nested.first, c.nested.cancelled
	c.nested = nested{}
	switch {
	case c.leaving: // drive waits for leave
		c.stop = cmp.Or(r.stop, outer)
		return value.Value{}, errNestedGone
	case c.aborting && !r.over:
		c.proceed(c.target.abortAll, false)
		return value.Value{}, errNestedGone
	case cancelled && !r.over && r.err == nil && r.stop.Outer == nil: // it has not returned
		c.proceed(c.target.session.Abort, false)
		return value.Value{}, errCancelled
	case r.err != nil && !r.over: // the call has not begun
		c.stop = outer
		return value.Value{}, r.err
	case !r.over && r.stop.Outer != nil && r.stop.Reason == session.Returned:
		c.stop = r.stop.Outer
		c.flush()
		c.verify()
		c.frames.Forget() // memory may have changed
		v, err := call.Result.Value(r.stop)
		if err == nil && v.Type() == nil {
			v = value.Constant(value.Base(jit.Host(), "void"), nil, c.values.Outside())
		}
		return v, err
	}
	abandoned := error(&frontend.AbandonedError{Function: call.Name, Stop: r.stop})
	if r.stop == nil {
		abandoned = r.err
	}
	c.report(r)
	return value.Value{}, abandoned
}

// awaitNested answers requests until the nested call stops. If debugging ends, or the client cancels evaluate, it
// interrupts the call.
func (c *client) awaitNested() {
	var ticks <-chan time.Time
	requests := c.requests
	for c.running {
		if (c.leaving || c.aborting || c.nested.cancelled) && ticks == nil {
			ticker := time.NewTicker(time.Millisecond)
			defer ticker.Stop()
			ticks, requests = ticker.C, nil
		}
		content := c.content
		select {
		case r, ok := <-requests:
			if !ok {
				c.disconnected()
				break
			}
			c.content = r.content
			c.handle(r.message)
			c.content = content
		case r := <-c.reports:
			c.report(r)
		case <-ticks:
			_ = c.target.session.Interrupt() // fails if it has just stopped
		}
	}
}

// abortAll aborts a stopped call with all calls that are nested in it.
func (t *Target) abortAll() (*session.Stop, error) {
	for {
		nested := t.session.Nested() > 0
		stop, err := t.session.Abort()
		if errors.Is(err, session.ErrNotStopped) { // it has just ended
			return &session.Stop{Reason: session.Aborted, ExitCode: -1}, nil
		}
		if err != nil || !nested {
			return stop, err
		}
	}
}

// continueOuter continues the program's call without the calls that are nested in it.
func (t *Target) continueOuter() (*session.Stop, error) {
	for t.session.Nested() > 0 {
		if _, err := t.session.Abort(); err != nil {
			return nil, err
		}
	}
	return t.session.Continue()
}

// left returns the operation with which drive goes on after the client has gone.
func (c *client) left(t *Target) operation {
	if c.aborts {
		return t.abortAll
	}
	return t.continueOuter
}
