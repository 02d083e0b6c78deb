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

const maxFrames = 1 << 14 // of a stack

// stack returns frames of the stack: at least want, if there are so many.
func (c *client) stack(want int) ([]*frontend.Frame, error) {
	list, err := c.frames.Load(min(want, maxFrames))
	return list[:min(len(list), maxFrames)], err
}

// forget drops the state of a stop. References and IDs of frames become invalid.
func (c *client) forget() {
	if c.base += len(c.containers); c.base > 1<<30 { // clients keep 31 bits
		c.base = 1
	}
	c.containers = c.containers[:0]
	c.frames.Forget()
	c.stops = (c.stops + 1) % (1 << 16)
}

// frameOf returns the frame with an ID; 0 is the innermost frame.
func (c *client) frameOf(id int) (*frontend.Frame, error) {
	if err := c.mustBeStopped(); err != nil {
		return nil, err
	}
	n := 0
	if id != 0 {
		n = id - 1 - c.frameBase()
	}
	var list []*frontend.Frame
	if n >= 0 && n < maxFrames {
		var err error
		if list, err = c.stack(n + 1); err != nil {
			return nil, err
		}
	}
	if n < 0 || n >= len(list) {
		return nil, errors.New("the frame belongs to another stop")
	}
	return list[n], nil
}

// frameBase returns the number before the IDs of this stop's frames.
func (c *client) frameBase() int { return c.stops * maxFrames }

func (c *client) stackTrace(r *dap.StackTraceRequest) (dap.Message, error) {
	a := r.Arguments
	levels := a.Levels
	if levels <= 0 || levels > maxFrames {
		levels = maxFrames
	}
	start := min(max(a.StartFrame, 0), maxFrames)
	// One more frame, so that the editor sees whether there are more.
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
		case f.Physical.Marker || f.Physical.Image == nil || len(f.Physical.Image.Files()) == 0:
			d.PresentationHint = "label" // of the program itself, of a host function, or of none
		case f.Location.File == "" || f.Physical.TailCall:
			d.PresentationHint = "subtle"
		}
		body.StackFrames = append(body.StackFrames, d)
	}
	return &dap.StackTraceResponse{Response: answer(r), Body: body}, nil
}
