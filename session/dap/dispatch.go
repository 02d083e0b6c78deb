// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"errors"
	"fmt"
	"maps"

	"github.com/google/go-dap"
)

var (
	errCancelled  = errors.New("cancelled")
	errNoProgram  = errors.New("there is no program: launch or attach first")
	errHasProgram = errors.New("there is already a program")
	errRunning    = errors.New("the code is running; pause it first")
	errIdle       = errors.New("no call is stopped")
)

func (c *client) handle(r dap.RequestMessage) {
	c.cancelled.Lock()
	cancelled := c.cancelled.requests[r.GetSeq()]
	c.cancelled.handled = max(c.cancelled.handled, r.GetSeq())
	maps.DeleteFunc(c.cancelled.requests, func(id int, _ bool) bool { return id <= c.cancelled.handled })
	c.cancelled.Unlock()
	var m dap.Message
	err := errCancelled
	c.sequence = r.GetSeq()
	if !cancelled {
		m, err = c.dispatch(r)
	}
	if err != nil {
		m = refusal(r, err)
	}
	if m != nil {
		c.connection.write(m)
	}
	if err == nil {
		c.follow(r)
	}
}

func (c *client) follow(r dap.RequestMessage) {
	switch r.(type) {
	case *dap.LaunchRequest, *dap.AttachRequest:
		c.connection.write(&dap.InitializedEvent{Event: event("initialized")})
		c.verify()
	case *dap.ConfigurationDoneRequest:
		if c.program != nil && !c.configured {
			c.running, c.plain = true, true
			c.start()
		}
		c.configured = true
	case *dap.RestartRequest:
		c.restart()
	case *dap.TerminateRequest:
		c.terminate()
	case *dap.GotoRequest:
		c.stoppedAt("goto", "", nil)
	}
}

// dispatch returns the response to a request, or nil if it was already sent. With an error
// the response is not used.
func (c *client) dispatch(r dap.RequestMessage) (dap.Message, error) {
	switch r := r.(type) {
	case *dap.InitializeRequest:
		return c.initialize(r)
	case *dap.LaunchRequest:
		return c.launch(r)
	case *dap.AttachRequest:
		return c.attach(r)
	case *dap.CancelRequest:
		if c.nested.active && r.Arguments != nil && r.Arguments.RequestId == c.nested.request {
			c.nested.cancelled = true
		}
		return &dap.CancelResponse{Response: answer(r)}, nil
	case *dap.DisconnectRequest:
		c.disconnect(r)
		return nil, nil
	}
	if c.target == nil {
		return nil, errNoProgram
	}
	switch r := r.(type) {
	case *dap.ConfigurationDoneRequest:
		return &dap.ConfigurationDoneResponse{Response: answer(r)}, nil
	case *dap.TerminateRequest:
		return &dap.TerminateResponse{Response: answer(r)}, nil
	case *dap.RestartRequest:
		if c.program == nil {
			return nil, errors.New("an attached program cannot be restarted")
		}
		return &dap.RestartResponse{Response: answer(r)}, nil
	case *dap.SetBreakpointsRequest:
		return c.setBreakpoints(r)
	case *dap.SetFunctionBreakpointsRequest:
		return c.setFunctionBreakpoints(r)
	case *dap.SetInstructionBreakpointsRequest:
		return c.setInstructionBreakpoints(r)
	case *dap.SetExceptionBreakpointsRequest:
		return c.setExceptionBreakpoints(r)
	case *dap.SetDataBreakpointsRequest:
		return c.setDataBreakpoints(r)
	case *dap.DataBreakpointInfoRequest:
		return c.dataBreakpointInfo(r)
	case *dap.BreakpointLocationsRequest:
		return c.breakpointLocations(r)
	case *dap.ThreadsRequest:
		return &dap.ThreadsResponse{Response: answer(r), Body: dap.ThreadsResponseBody{Threads: []dap.Thread{{Id: thread, Name: c.threadName()}}}}, nil
	case *dap.LoadedSourcesRequest:
		return c.loadedSources(r)
	case *dap.SourceRequest:
		return c.source(r)
	case *dap.PauseRequest:
		return c.pause(r)
	case *dap.ContinueRequest, *dap.NextRequest, *dap.StepInRequest, *dap.StepOutRequest:
		return c.advance(r)
	case *dap.EvaluateRequest:
		return c.evaluate(r)
	case *dap.SetExpressionRequest:
		return c.setExpression(r)
	case *dap.ReadMemoryRequest:
		return c.readMemory(r)
	case *dap.WriteMemoryRequest:
		return c.writeMemory(r)
	case *dap.DisassembleRequest:
		return c.disassemble(r)
	}
	if err := c.mustBeStopped(); err != nil {
		return nil, err
	}
	switch r := r.(type) {
	case *dap.StackTraceRequest:
		return c.stackTrace(r)
	case *dap.ScopesRequest:
		return c.scopes(r)
	case *dap.VariablesRequest:
		return c.variablesOf(r)
	case *dap.SetVariableRequest:
		return c.setVariable(r)
	case *dap.CompletionsRequest:
		return c.completions(r)
	case *dap.ExceptionInfoRequest:
		return c.exceptionInfo(r)
	case *dap.GotoTargetsRequest:
		return c.gotoTargets(r)
	case *dap.GotoRequest:
		return c.gotoTarget(r)
	}
	return nil, fmt.Errorf("request %q is not supported", r.GetRequest().Command)
}

func (c *client) mustBeStopped() error {
	switch {
	case c.running:
		return errRunning
	case c.stop == nil:
		return errIdle
	}
	return nil
}
