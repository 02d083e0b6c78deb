// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"errors"
	"fmt"

	"github.com/google/go-dap"
)

// gotoTargets offers the places of a line in the function that is stopped: to go
// elsewhere would leave the stack in disorder.
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

// gotoTarget sets the program counter.
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
