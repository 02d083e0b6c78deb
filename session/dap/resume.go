// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"fmt"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
)

// proceed runs an operation that goes on from a stop.
func (c *client) proceed(op operation, plain bool) {
	c.resumed(plain)
	c.resume <- op // drive waits for it since it told of the stop
}

// advance answers continue and the steps. The response comes before the code
// runs, so that it is not behind the stop.
func (c *client) advance(r dap.RequestMessage) (dap.Message, error) {
	if err := c.mustBeStopped(); err != nil {
		return nil, err
	}
	s := c.target.session
	var response dap.Message
	var op operation
	switch r := r.(type) {
	case *dap.ContinueRequest:
		response = &dap.ContinueResponse{Response: answer(r), Body: dap.ContinueResponseBody{AllThreadsContinued: true}}
		op = s.Continue
	case *dap.NextRequest:
		response = &dap.NextResponse{Response: answer(r)}
		op = granular(r.Arguments.Granularity, s.NextInstruction, s.NextLine)
	case *dap.StepInRequest:
		response = &dap.StepInResponse{Response: answer(r)}
		op = granular(r.Arguments.Granularity, s.StepInstruction, s.StepLine)
	case *dap.StepOutRequest:
		response = &dap.StepOutResponse{Response: answer(r)}
		op = func() (*session.Stop, error) { return s.StepOut(0) }
	}
	if op == nil {
		return nil, fmt.Errorf("there are steps by %q, %q and %q", "statement", "line", "instruction")
	}
	_, plain := r.(*dap.ContinueRequest)
	c.connection.write(response)
	c.proceed(op, plain)
	return nil, nil
}

// granular chooses a step. Line tables have no more than lines: a statement is one.
func granular(g dap.SteppingGranularity, instruction, line operation) operation {
	switch g {
	case "instruction":
		return instruction
	case "", "line", "statement":
		return line
	}
	return nil
}

func (c *client) pause(r *dap.PauseRequest) (dap.Message, error) {
	if c.stop != nil && !c.running {
		return &dap.PauseResponse{Response: answer(r)}, nil // it is what it asks for
	}
	if !c.running {
		return nil, errIdle
	}
	c.connection.write(&dap.PauseResponse{Response: answer(r)})
	c.pausing.Store(true)
	if err := c.interrupt(); err != nil {
		c.output("stderr", err.Error()+"\n")
	}
	return nil, nil
}
