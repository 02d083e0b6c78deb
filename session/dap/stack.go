// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"errors"
	"fmt"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
)

// frame is a frame as the editor counts them: a function, or a call that was
// inlined in it.
type frame struct {
	*session.Frame
	inlined  int             // how many inlined calls are further in
	location object.Location // zero where none is known
	scope    *value.Scope    // nil where there is no debugging information
}

// maxFrames is how many frames of a stack are shown.
const maxFrames = 1 << 14

// stack returns the frames, at least so many as wanted, if there are.
func (c *client) stack(want int) error {
	if c.stackEnd || len(c.frames) >= want {
		return nil
	}
	want = min(max(want, 2*len(c.frames), 20), maxFrames)
	stack, err := c.target.session.Stack(want)
	if err != nil {
		return err
	}
	c.frames, c.stackEnd = nil, len(stack.Frames) < want || want == maxFrames
	for n := range stack.Frames {
		f := &stack.Frames[n]
		var scopes []*value.Scope
		if info := f.Info(); info != nil {
			scopes, _ = info.Scopes(f.LookupPC) // without them there are no variables
		}
		passed := 0 // inlined calls that are not entered yet have no location
		if len(f.Locations) > 0 {
			passed = max(0, len(scopes)-len(f.Locations))
		}
		for k := range max(len(f.Locations), len(scopes)-passed, 1) {
			one := &frame{Frame: f, inlined: k + passed}
			if k < len(f.Locations) {
				one.location = f.Locations[k]
			}
			if k+passed < len(scopes) {
				one.scope = scopes[k+passed]
			}
			c.frames = append(c.frames, one)
		}
	}
	return nil
}

// forget drops what belongs to a stop. References are not used again.
func (c *client) forget() {
	if c.base += len(c.containers); c.base > 1<<30 { // clients keep 31 bits
		c.base = 1
	}
	c.containers = c.containers[:0]
	c.frames, c.stackEnd = nil, false
	c.stops = (c.stops + 1) % (1 << 16)
}

// changed drops what was read of the stack: an assignment can have changed it. The
// IDs of frames stay.
func (c *client) changed() {
	c.frames, c.stackEnd = nil, false
}

// frameOf returns the frame with an ID; 0 is the innermost one.
func (c *client) frameOf(id int) (*frame, error) {
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
	if err := c.stack(n + 1); err != nil {
		return nil, err
	}
	if n >= len(c.frames) {
		return nil, errors.New("the frame is of another stop")
	}
	return c.frames[n], nil
}

// frameBase is what the IDs of frames start from.
func (c *client) frameBase() int { return c.stops * maxFrames }

func (f *frame) name() string {
	switch {
	case f.scope != nil && f.scope.Function != nil && f.scope.Function.Name != "":
		return f.scope.Function.Name
	case f.location.Function != "":
		return f.location.Function
	case f.Function.Name != "":
		return f.Function.Name
	}
	return fmt.Sprintf("%#x", f.PC)
}

func (c *client) stackTrace(r *dap.StackTraceRequest) (dap.Message, error) {
	a := r.Arguments
	levels := a.Levels
	if levels <= 0 || levels > maxFrames {
		levels = maxFrames
	}
	start := min(max(a.StartFrame, 0), maxFrames)
	// One more tells whether there are more.
	if err := c.stack(start + levels + 1); err != nil {
		return nil, err
	}
	body := dap.StackTraceResponseBody{StackFrames: []dap.StackFrame{}, TotalFrames: len(c.frames)}
	for n := start; n < len(c.frames) && n < start+levels; n++ {
		f := c.frames[n]
		d := dap.StackFrame{Id: 1 + c.frameBase() + n, Name: f.name(), InstructionPointerReference: reference(f.PC)}
		if f.location.File != "" {
			d.Source, d.Line, d.Column = c.sourceOf(f.location.File), c.line(f.location.Line), max(f.location.Column, 1)-1+c.columns
		}
		switch {
		case f.Image == nil || len(f.Image.Files()) == 0:
			d.PresentationHint = "label" // the program's own, or a host function
		case f.location.File == "":
			d.PresentationHint = "subtle"
		}
		body.StackFrames = append(body.StackFrames, d)
	}
	return &dap.StackTraceResponse{Response: answer(r), Body: body}, nil
}
