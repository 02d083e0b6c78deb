// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"cmp"
	"errors"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session/frontend"
)

// maxFrames is how many frames of a stack are shown.
const maxFrames = 1 << 14

// stack returns the frames that were read: at least want, if there are so many.
func (c *client) stack(want int) ([]*frontend.Frame, error) {
	list, err := c.frames.Load(min(want, maxFrames))
	return list[:min(len(list), maxFrames)], err
}

// forget drops what belongs to a stop. References are not used again.
func (c *client) forget() {
	if c.base += len(c.containers); c.base > 1<<30 { // clients keep 31 bits
		c.base = 1
	}
	c.containers = c.containers[:0]
	c.frames.Forget()
	c.stops = (c.stops + 1) % (1 << 16)
}

// changed drops what was read of the stack: an assignment can have changed it. The
// IDs of frames stay.
func (c *client) changed() {
	c.frames.Forget()
}

// frameOf returns the frame with an ID; 0 is the innermost one.
func (c *client) frameOf(id int) (*frontend.Frame, error) {
	if err := c.mustBeStopped(); err != nil {
		return nil, err
	}
	n := 0
	if id != 0 {
		n = id - 1 - c.frameBase()
	}
	if n < 0 || n >= maxFrames {
		return nil, errors.New("the frame is of another stop")
	}
	list, err := c.stack(n + 1)
	if err != nil {
		return nil, err
	}
	if n >= len(list) {
		return nil, errors.New("the frame is of another stop")
	}
	return list[n], nil
}

// frameBase is what the IDs of frames start from.
func (c *client) frameBase() int { return c.stops * maxFrames }

func (c *client) stackTrace(r *dap.StackTraceRequest) (dap.Message, error) {
	a := r.Arguments
	levels := a.Levels
	if levels <= 0 || levels > maxFrames {
		levels = maxFrames
	}
	start := min(max(a.StartFrame, 0), maxFrames)
	// One more shows whether there are more.
	list, err := c.stack(start + levels + 1)
	if err != nil {
		return nil, err
	}
	body := dap.StackTraceResponseBody{StackFrames: []dap.StackFrame{}, TotalFrames: len(list)}
	for n := start; n < len(list) && n < start+levels; n++ {
		f := list[n]
		pc := reference(f.Physical.PC)
		d := dap.StackFrame{Id: 1 + c.frameBase() + n, Name: cmp.Or(f.Name, pc), InstructionPointerReference: pc}
		if f.Location.File != "" {
			d.Source, d.Line, d.Column = c.sourceOf(f.Location.File), c.line(f.Location.Line), max(f.Location.Column, 1)-1+c.columns
		}
		switch {
		case f.Physical.Image == nil || len(f.Physical.Image.Files()) == 0:
			d.PresentationHint = "label" // the program's own, or a host function
		case f.Location.File == "":
			d.PresentationHint = "subtle"
		}
		body.StackFrames = append(body.StackFrames, d)
	}
	return &dap.StackTraceResponse{Response: answer(r), Body: body}, nil
}
