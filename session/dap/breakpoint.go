// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-dap"

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

// breakpoint is one that the editor has set.
type breakpoint struct {
	wanted
	id      int
	session int    // ID in the session, 0 where it is not set
	line    int    // where it is
	address uint64 // likewise
	file    string // likewise, as debugging information names it
	message string // why it is not set
}

type breakpoints struct {
	last int
	list []*breakpoint
}

func (b *breakpoints) all() []*breakpoint { return b.list }

// of returns the breakpoint with an ID of the session's.
func (b *breakpoints) of(id int) *breakpoint {
	for _, p := range b.list {
		if p.session == id && id != 0 {
			return p
		}
	}
	return nil
}

// maxBreakpoints is how many breakpoints a client can set.
const maxBreakpoints = 4096

// replace makes the breakpoints for which of is true those that are wanted.
func (c *client) replace(of func(*breakpoint) bool, list []wanted) ([]dap.Breakpoint, error) {
	old := map[wanted][]*breakpoint{}
	var others []*breakpoint
	for _, b := range c.breakpoints.list {
		if of(b) {
			old[b.wanted] = append(old[b.wanted], b)
		} else {
			others = append(others, b)
		}
	}
	if len(others)+len(list) > maxBreakpoints {
		return nil, fmt.Errorf("%d breakpoints, of at most %d", len(others)+len(list), maxBreakpoints)
	}
	var now []*breakpoint
	for _, w := range list {
		if same := old[w]; len(same) > 0 {
			now, old[w] = append(now, same[0]), same[1:]
			continue
		}
		c.breakpoints.last++
		now = append(now, &breakpoint{wanted: w, id: c.breakpoints.last})
	}
	for _, left := range slices.Collect(maps.Values(old)) {
		for _, b := range left {
			c.unset(b)
		}
	}
	c.breakpoints.list = append(others, now...)
	answers := make([]dap.Breakpoint, 0, len(now))
	for _, b := range now {
		if b.session == 0 {
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
	answers, err := c.replace(func(b *breakpoint) bool {
		return b.kind == sourceBreakpoint && b.path == a.Source.Path && b.reference == a.Source.SourceReference
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
	answers, err := c.replace(func(b *breakpoint) bool { return b.kind == functionBreakpoint }, list)
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
	answers, err := c.replace(func(b *breakpoint) bool { return b.kind == instructionBreakpoint }, list)
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

// set sets a breakpoint in the session, or notes why it cannot be.
func (c *client) set(b *breakpoint) {
	b.message = ""
	if b.kind == dataBreakpoint {
		if !c.whileInterrupted(func() { c.setData(b) }) {
			b.message = "it is set at the next stop"
		}
		return
	}
	addresses, err := c.locate(b)
	if err != nil {
		b.message = err.Error()
		return
	}
	b.address = addresses[0]
	c.place(b)
	o, err := c.options(b, addresses)
	if err != nil {
		b.message = err.Error()
		return
	}
	var p *session.Breakpoint
	switch b.kind {
	case sourceBreakpoint:
		p, err = c.target.session.BreakAt(fmt.Sprintf("%s:%d", b.file, b.wanted.line), o)
	case functionBreakpoint:
		p, err = c.target.session.BreakAt(b.name, o)
	default:
		p, err = c.target.session.Break(b.wanted.address, o)
	}
	if err != nil {
		b.message = err.Error()
		return
	}
	b.session = p.ID
}

// locate finds where a breakpoint is to be set.
func (c *client) locate(b *breakpoint) ([]uint64, error) {
	switch b.kind {
	case sourceBreakpoint:
		file, addresses, err := c.locateLine(b.path, b.reference, b.wanted.line)
		b.file = file
		return addresses, err
	case functionBreakpoint:
		return c.target.session.Locate(b.name)
	}
	return []uint64{b.wanted.address}, nil
}

// place finds the source of a breakpoint that was set.
func (c *client) place(b *breakpoint) {
	locations := frontend.Locations(c.target.session, b.address)
	for _, l := range locations {
		if b.kind != sourceBreakpoint || sameFile(l.File, b.file) {
			b.file, b.line = l.File, l.Line
			return
		}
	}
	if len(locations) > 0 {
		b.file, b.line = locations[0].File, locations[0].Line
	}
}

// describe is what the editor is told of a breakpoint.
func (c *client) describe(b *breakpoint) dap.Breakpoint {
	d := dap.Breakpoint{Id: b.id, Verified: b.session != 0, Message: b.message}
	if b.kind == sourceBreakpoint && b.session == 0 {
		d.Line = c.line(b.wanted.line)
		return d
	}
	if b.session != 0 && b.kind != dataBreakpoint {
		d.InstructionReference = reference(b.address)
		if b.line != 0 {
			d.Line = c.line(b.line)
			d.Source = c.sourceOf(b.file)
		}
	}
	return d
}

// line is a line as the client counts.
func (c *client) line(n int) int { return n - 1 + c.lines }

// unset takes a breakpoint back.
func (c *client) unset(b *breakpoint) {
	if b.session == 0 {
		return
	}
	remove := func() {
		c.target.session.Remove(b.session) // it may have removed itself
		b.session = 0
	}
	if b.kind == dataBreakpoint {
		c.whileInterrupted(remove)
		return
	}
	remove()
}

// verify tries again what could not be set, for there may be new images.
func (c *client) verify() {
	for _, b := range c.breakpoints.list {
		if b.session != 0 {
			continue
		}
		before := b.message
		if b.kind != dataBreakpoint {
			c.set(b)
		}
		if b.session != 0 || b.message != before {
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
