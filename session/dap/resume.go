// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"errors"
	"fmt"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
)

// proceed runs an operation that continues from a stop.
func (c *client) proceed(op operation, plain bool) {
	c.resumed(plain)
	c.resume <- op // drive has waited for it since it reported the stop
}

// advance answers continue and the steps. It sends the response before the code runs, so
// that it precedes the next stop.
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
		return nil, fmt.Errorf("unknown granularity; expected %q, %q or %q", "statement", "line", "instruction")
	}
	_, plain := r.(*dap.ContinueRequest)
	c.connection.write(response)
	c.proceed(op, plain)
	return nil, nil
}

// granular chooses a step, nil for an unknown granularity. A statement is a line, because
// line tables have lines only.
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
		return &dap.PauseResponse{Response: answer(r)}, nil
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

// gotoTargets returns the addresses of a line in the stopped function. The stack does not
// fit other functions.
func (c *client) gotoTargets(r *dap.GotoTargetsRequest) (dap.Message, error) {
	a := r.Arguments
	f, err := c.frameOf(0)
	if err != nil {
		return nil, err
	}
	_, addresses, err := c.locateLine(a.Source.Path, a.Source.SourceReference, a.Line+1-c.lines)
	if err != nil {
		return nil, err
	}
	c.targets = c.targets[:0]
	body := dap.GotoTargetsResponseBody{Targets: []dap.GotoTarget{}}
	for _, address := range addresses {
		if i := c.target.session.Image(address); i == nil || i != f.Physical.Image {
			continue
		} else if in, ok := i.Function(address); !ok || in.Start != f.Physical.Function.Start {
			continue
		}
		c.targets = append(c.targets, address)
		body.Targets = append(body.Targets, dap.GotoTarget{Id: len(c.targets), Line: a.Line, Label: fmt.Sprintf("line %d (%#x)", a.Line, address), InstructionPointerReference: reference(address)})
	}
	return &dap.GotoTargetsResponse{Response: answer(r), Body: body}, nil
}

func (c *client) gotoTarget(r *dap.GotoRequest) (dap.Message, error) {
	n := r.Arguments.TargetId - 1
	if n < 0 || n >= len(c.targets) {
		return nil, errors.New("there is no such target")
	}
	registers, err := c.target.session.Registers()
	if err != nil {
		return nil, err
	}
	registers.Set("pc", c.targets[n])
	if err := c.target.session.SetRegisters(registers); err != nil {
		return nil, err
	}
	c.forget()
	return &dap.GotoResponse{Response: answer(r)}, nil
}
