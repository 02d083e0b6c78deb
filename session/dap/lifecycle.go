// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

const (
	thread       = 1         // ID of the only thread
	signalFilter = "signals" // name of the only exception filter
)

func (c *client) initialize(r *dap.InitializeRequest) (dap.Message, error) {
	if f := r.Arguments.PathFormat; f != "" && f != "path" {
		return nil, fmt.Errorf("path format %q is not supported", f)
	}
	// The default is to count from 1. go-dap decodes an absent argument as false.
	c.lines, c.columns = 1, 1
	if c.hasArgument("linesStartAt1") && !r.Arguments.LinesStartAt1 {
		c.lines = 0
	}
	if c.hasArgument("columnsStartAt1") && !r.Arguments.ColumnsStartAt1 {
		c.columns = 0
	}
	return &dap.InitializeResponse{Response: answer(r), Body: dap.Capabilities{
		SupportsConfigurationDoneRequest:   true,
		SupportsFunctionBreakpoints:        true,
		SupportsConditionalBreakpoints:     true,
		SupportsHitConditionalBreakpoints:  true,
		SupportsEvaluateForHovers:          true,
		ExceptionBreakpointFilters:         []dap.ExceptionBreakpointsFilter{{Filter: signalFilter, Label: "Signals", Description: "Faults and traps of the code. They always stop: they cannot be passed to the code.", Default: true}},
		SupportsSetVariable:                true,
		SupportsGotoTargetsRequest:         true,
		SupportsCompletionsRequest:         true,
		CompletionTriggerCharacters:        []string{"$"},
		SupportsRestartRequest:             true,
		SupportsValueFormattingOptions:     true,
		SupportsExceptionInfoRequest:       true,
		SupportTerminateDebuggee:           true,
		SupportsDelayedStackTraceLoading:   true,
		SupportsLoadedSourcesRequest:       true,
		SupportsLogPoints:                  true,
		SupportsSetExpression:              true,
		SupportsTerminateRequest:           true,
		SupportsDataBreakpoints:            true,
		SupportsReadMemoryRequest:          true,
		SupportsWriteMemoryRequest:         true,
		SupportsDisassembleRequest:         true,
		SupportsCancelRequest:              true,
		SupportsBreakpointLocationsRequest: true,
		SupportsClipboardContext:           true,
		SupportsSteppingGranularity:        true,
		SupportsInstructionBreakpoints:     true,
	}}, nil
}

// hasArgument reports whether the current request has an argument.
func (c *client) hasArgument(name string) bool {
	var r struct {
		Arguments map[string]json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(c.content, &r)
	_, ok := r.Arguments[name]
	return ok
}

func (c *client) launch(r *dap.LaunchRequest) (dap.Message, error) {
	var a LaunchArguments
	switch {
	case c.target != nil:
		return nil, errHasProgram
	case c.server.options.Launch == nil:
		return nil, errors.New("this server cannot launch programs; attach to it")
	}
	if err := unmarshal(r.Arguments, &a); err != nil {
		return nil, fmt.Errorf("the arguments of launch: %w", err)
	}
	a.JSON, a.Output = r.Arguments, programOutput{c}
	p, err := c.server.options.Launch(a)
	if err != nil {
		return nil, err
	}
	c.program = p
	c.stopOnEntry.Store(a.StopOnEntry)
	c.setTarget(&Target{Sources: p.Sources, Locals: p.Locals, session: p.Session})
	return &dap.LaunchResponse{Response: answer(r)}, nil
}

func (c *client) attach(r *dap.AttachRequest) (dap.Message, error) {
	var a struct {
		StopOnEntry bool `json:"stopOnEntry"` // stop every call before its first instruction
	}
	switch {
	case c.target != nil:
		return nil, errHasProgram
	case c.server.options.Attach == nil:
		return nil, errors.New("this server offers no session to attach to; launch a program")
	}
	if err := unmarshal(r.Arguments, &a); err != nil {
		return nil, fmt.Errorf("the arguments of attach: %w", err)
	}
	t, err := c.server.options.Attach()
	if err != nil {
		return nil, err
	}
	if t.attached() != nil {
		return nil, ErrBusy
	}
	c.stopOnEntry.Store(a.StopOnEntry)
	c.setTarget(t)
	return &dap.AttachResponse{Response: answer(r)}, nil
}

// programOutput shows the output of a program in the editor.
type programOutput struct{ c *client }

func (o programOutput) Write(b []byte) (int, error) {
	o.c.output("stdout", string(b))
	return len(b), nil
}

func unmarshal(b json.RawMessage, to any) error {
	if len(b) == 0 {
		return nil
	}
	return json.Unmarshal(b, to)
}

func (c *client) setTarget(t *Target) {
	c.target, c.frames = t, frontend.NewFrames(t.session)
	c.values = frontend.NewValues(t.session, c.frames)
	c.values.History = c.past
	c.breakpoints = frontend.NewBreakpoints[editorBreakpoint](c.values, conditions)
	symbols := frontend.NewSymbols(t.session)
	c.calls = frontend.NewCalls(c.values, symbols)
	c.printer = symbols.Printer()
	c.printer.UTF8 = true
	c.sources = slices.Sorted(maps.Keys(t.Sources))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.client = c
	c.running = c.program == nil && t.session.State() == session.Running
	c.plain = c.running
}

func (c *client) threadName() string {
	if pid := c.target.session.PID(); pid != 0 {
		return fmt.Sprintf("worker %d", pid)
	}
	return "worker"
}

func (c *client) restart() {
	c.restarting = true
	if !c.abort() {
		c.over(outcome{})
	}
}

func (c *client) terminate() {
	if !c.abort() || c.program == nil {
		c.end()
	}
}

// abort ends the call with those that are nested in it, and reports whether there is one.
func (c *client) abort() bool {
	c.aborting = c.running || c.stop != nil
	switch {
	case c.nested.active: // callNested does it
	case c.running:
		go c.abortRunning(c.done) // drive reports the stop
	case c.stop != nil:
		c.proceed(c.target.abortAll, false)
	default:
		return false
	}
	return true
}

// disconnect ends the service of the client. The response is sent when another client can
// be served, because an editor may connect again at once.
func (c *client) disconnect(r *dap.DisconnectRequest) {
	c.farewell = &dap.DisconnectResponse{Response: answer(r)}
	c.aborts = c.program != nil
	if c.hasArgument("terminateDebuggee") {
		c.aborts = r.Arguments.TerminateDebuggee
	}
	c.leaving = true
}

// end reports once that debugging has ended.
func (c *client) end() {
	if !c.ended {
		c.ended = true
		c.connection.write(&dap.TerminatedEvent{Event: event("terminated")})
	}
}
