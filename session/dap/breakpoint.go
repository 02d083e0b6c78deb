// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
)

type breakpointKind uint8

const (
	sourceBreakpoint breakpointKind = iota
	functionBreakpoint
	instructionBreakpoint
	dataBreakpoint
)

func (k breakpointKind) reason() string {
	return [...]string{"breakpoint", "function breakpoint", "instruction breakpoint", "data breakpoint"}[k]
}

// wanted is what the editor has said of a breakpoint. Requests say it again
// of all breakpoints whenever one changes: those that are the same stay.
type wanted struct {
	kind         breakpointKind
	path         string // of a source breakpoint: the editor's
	reference    int    // or the reference of the source
	line         int    // counted from 1
	name         string // of a function
	address      uint64 // of an instruction, or of data
	size         int    // of data
	access       session.Access
	condition    string
	hitCondition string
	log          string
}

// breakpoint is a breakpoint that the editor has set. One that cannot be set is pending.
type breakpoint = frontend.Breakpoint[editorBreakpoint]

// editorBreakpoint is what the editor sees of a breakpoint.
type editorBreakpoint struct {
	wanted
	place
	message string // why it is pending
}

// place is where a breakpoint is.
type place struct {
	address uint64
	file    string // as debugging information names it
	line    int
}

// conditions: a line can be in several functions, only some of which have the names of
// a condition. Convenience variables belong to the client's loop, and conditions are
// evaluated by the goroutine that runs the code.
var conditions = frontend.Conditions{Failed: func(_ int, condition string, err error) error {
	return fmt.Errorf("condition %s: %w", condition, err)
}}

// maxBreakpoints is how many breakpoints a client can set.
const maxBreakpoints = 4096

// replace makes the breakpoints of a group those that are wanted.
func (c *client) replace(inGroup func(*wanted) bool, list []wanted) ([]dap.Breakpoint, error) {
	old := map[wanted][]*breakpoint{}
	others := 0
	for _, b := range c.breakpoints.List() {
		if inGroup(&b.Own.wanted) {
			old[b.Own.wanted] = append(old[b.Own.wanted], b)
		} else {
			others++
		}
	}
	if others+len(list) > maxBreakpoints {
		return nil, fmt.Errorf("%d breakpoints, of at most %d", others+len(list), maxBreakpoints)
	}
	var now []*breakpoint
	for _, w := range list {
		if same := old[w]; len(same) > 0 {
			now, old[w] = append(now, same[0]), same[1:]
			continue
		}
		b := &breakpoint{Own: editorBreakpoint{wanted: w}}
		c.breakpoints.Add(b)
		now = append(now, b)
	}
	for _, left := range old {
		for _, b := range left {
			c.unset(b)
			c.breakpoints.Drop(b)
		}
	}
	answers := make([]dap.Breakpoint, 0, len(now))
	for _, b := range now {
		if b.ID() == 0 {
			c.set(b)
		}
		answers = append(answers, c.describe(b))
	}
	return answers, nil
}

func (c *client) setBreakpoints(r *dap.SetBreakpointsRequest) (dap.Message, error) {
	a := r.Arguments
	var list []wanted
	if a.Breakpoints == nil {
		for _, line := range a.Lines {
			a.Breakpoints = append(a.Breakpoints, dap.SourceBreakpoint{Line: line})
		}
	}
	for _, b := range a.Breakpoints {
		list = append(list, wanted{kind: sourceBreakpoint, path: a.Source.Path, reference: a.Source.SourceReference,
			line: b.Line + 1 - c.lines, condition: b.Condition, hitCondition: b.HitCondition, log: b.LogMessage})
	}
	answers, err := c.replace(func(w *wanted) bool {
		return w.kind == sourceBreakpoint && w.path == a.Source.Path && w.reference == a.Source.SourceReference
	}, list)
	if err != nil {
		return nil, err
	}
	return &dap.SetBreakpointsResponse{Response: answer(r), Body: dap.SetBreakpointsResponseBody{Breakpoints: answers}}, nil
}

func (c *client) setFunctionBreakpoints(r *dap.SetFunctionBreakpointsRequest) (dap.Message, error) {
	var list []wanted
	for _, b := range r.Arguments.Breakpoints {
		list = append(list, wanted{kind: functionBreakpoint, name: strings.TrimSpace(b.Name), condition: b.Condition, hitCondition: b.HitCondition})
	}
	answers, err := c.replace(func(w *wanted) bool { return w.kind == functionBreakpoint }, list)
	if err != nil {
		return nil, err
	}
	return &dap.SetFunctionBreakpointsResponse{Response: answer(r), Body: dap.SetFunctionBreakpointsResponseBody{Breakpoints: answers}}, nil
}

func (c *client) setInstructionBreakpoints(r *dap.SetInstructionBreakpointsRequest) (dap.Message, error) {
	var list []wanted
	for _, b := range r.Arguments.Breakpoints {
		address, err := parseReference(b.InstructionReference)
		if err != nil {
			return nil, err
		}
		list = append(list, wanted{kind: instructionBreakpoint, address: address + uint64(b.Offset), condition: b.Condition, hitCondition: b.HitCondition})
	}
	answers, err := c.replace(func(w *wanted) bool { return w.kind == instructionBreakpoint }, list)
	if err != nil {
		return nil, err
	}
	return &dap.SetInstructionBreakpointsResponse{Response: answer(r), Body: dap.SetInstructionBreakpointsResponseBody{Breakpoints: answers}}, nil
}

// setExceptionBreakpoints says that signals stop whatever the filters are.
func (c *client) setExceptionBreakpoints(r *dap.SetExceptionBreakpointsRequest) (dap.Message, error) {
	on := slices.Contains(r.Arguments.Filters, signalFilter) ||
		slices.ContainsFunc(r.Arguments.FilterOptions, func(o dap.ExceptionFilterOptions) bool { return o.FilterId == signalFilter })
	if c.exceptions && !on {
		c.output("console", "Signals stop the code all the same: they cannot be passed to it.\n")
	}
	c.exceptions = on
	list := make([]dap.Breakpoint, len(r.Arguments.Filters)+len(r.Arguments.FilterOptions))
	for i := range list {
		list[i].Verified = true
	}
	return &dap.SetExceptionBreakpointsResponse{Response: answer(r), Body: dap.SetExceptionBreakpointsResponseBody{Breakpoints: list}}, nil
}

// set sets a breakpoint in the session, or notes why that is not possible.
func (c *client) set(b *breakpoint) {
	b.Own.message = ""
	set := c.setInCode
	if b.Own.kind == dataBreakpoint {
		set = c.setData
	}
	try := func() {
		if err := set(b); err != nil {
			b.Own.message = err.Error()
		}
	}
	if b.Own.kind != dataBreakpoint {
		try()
	} else if !c.whileInterrupted(try) {
		b.Own.message = "it is set at the next stop"
	}
}

// setInCode sets a breakpoint that is not a data breakpoint.
func (c *client) setInCode(b *breakpoint) error {
	addresses, location, err := c.locate(b)
	if err != nil {
		return err
	}
	c.placeAt(b, addresses[0])
	if err := c.prepare(b, addresses); err != nil {
		return err
	}
	return c.breakpoints.Break(b, location, addresses[0])
}

// setData sets a data breakpoint. The session does not run.
func (c *client) setData(b *breakpoint) error {
	var f *frontend.Frame
	if c.stop != nil {
		if list, err := c.stack(1); err == nil && len(list) > 0 {
			f = list[0]
		}
	}
	if err := c.breakpoints.SetCondition(b, strings.TrimSpace(b.Own.condition), nil, f); err != nil {
		return fmt.Errorf("condition: %w", err)
	}
	if err := setHitCondition(b); err != nil {
		return err
	}
	return c.breakpoints.WatchMemory(b, &frontend.Watch{}, b.Own.wanted.address, b.Own.size, b.Own.access)
}

// locate finds where a breakpoint is to be set, and the session's name for the location.
func (c *client) locate(b *breakpoint) (addresses []uint64, location string, err error) {
	switch w := &b.Own.wanted; w.kind {
	case sourceBreakpoint:
		b.Own.file, addresses, err = c.locateLine(w.path, w.reference, w.line)
		return addresses, fmt.Sprintf("%s:%d", b.Own.file, w.line), err
	case functionBreakpoint:
		addresses, err = c.target.session.Locate(w.name)
		return addresses, w.name, err
	default:
		return []uint64{w.address}, "", nil
	}
}

// placeAt notes where a breakpoint will be: its address and the source there.
func (c *client) placeAt(b *breakpoint, address uint64) {
	p := &b.Own.place
	p.address = address
	locations := frontend.Locations(c.target.session, address)
	n := slices.IndexFunc(locations, func(l object.Location) bool {
		return b.Own.kind != sourceBreakpoint || sameFile(l.File, p.file)
	})
	if len(locations) > 0 {
		l := locations[max(n, 0)]
		p.file, p.line = l.File, l.Line
	}
}

// describe returns what the editor gets of a breakpoint.
func (c *client) describe(b *breakpoint) dap.Breakpoint {
	d := dap.Breakpoint{Id: b.Number, Verified: b.ID() != 0, Message: b.Own.message}
	switch p := &b.Own.place; {
	case b.Set == nil && b.Own.kind == sourceBreakpoint:
		d.Line = c.line(b.Own.wanted.line)
	case b.Set != nil:
		d.InstructionReference = reference(p.address)
		if p.line != 0 {
			d.Line, d.Source = c.line(p.line), c.sourceOf(p.file)
		}
	}
	return d
}

// line is a line as the client counts.
func (c *client) line(n int) int { return n - 1 + c.lines }

// unset removes a breakpoint from the session.
func (c *client) unset(b *breakpoint) {
	remove := func() { _ = c.breakpoints.Unset(b) } // only a watchpoint of a running session can fail
	if b.Watch != nil {
		c.whileInterrupted(remove)
		return
	}
	remove()
}

// verify tries to set pending breakpoints: there may be new images.
func (c *client) verify() {
	for _, b := range c.breakpoints.List() {
		if b.ID() != 0 {
			continue
		}
		before := b.Own.message
		if b.Own.kind != dataBreakpoint {
			c.set(b)
		}
		if b.ID() != 0 || b.Own.message != before {
			c.connection.write(&dap.BreakpointEvent{Event: event("breakpoint"), Body: dap.BreakpointEventBody{Reason: "changed", Breakpoint: c.describe(b)}})
		}
	}
}

// breakpointLocations answers which lines have code.
func (c *client) breakpointLocations(r *dap.BreakpointLocationsRequest) (dap.Message, error) {
	response := &dap.BreakpointLocationsResponse{Response: answer(r)}
	response.Body.Breakpoints = []dap.BreakpointLocation{}
	if r.Arguments == nil {
		return response, nil
	}
	a := r.Arguments
	first := a.Line + 1 - c.lines
	last := max(first, a.EndLine+1-c.lines)
	const most = 1000
	for line := first; line <= last && line-first < most; {
		_, addresses, err := c.locateLine(a.Source.Path, a.Source.SourceReference, line)
		if err != nil {
			break
		}
		at := 0
		for _, address := range addresses {
			for _, l := range frontend.Locations(c.target.session, address) {
				if l.Line >= line && (at == 0 || l.Line < at) {
					at = l.Line
				}
			}
		}
		if at == 0 || at > last {
			break
		}
		response.Body.Breakpoints = append(response.Body.Breakpoints, dap.BreakpointLocation{Line: c.line(at)})
		line = at + 1
	}
	return response, nil
}
