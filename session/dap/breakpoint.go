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

// reason is the reason of a stop, as the protocol names it.
func (k breakpointKind) reason() string {
	return [...]string{"breakpoint", "function breakpoint", "instruction breakpoint", "data breakpoint"}[k]
}

// request is the editor's description of a breakpoint. A change of one breakpoint repeats
// the requests of all; breakpoints with an equal request stay.
type request struct {
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
	fault        string // why it cannot be set anywhere
}

// breakpoint is a breakpoint that the editor has set. It is pending if it cannot be set.
type breakpoint = frontend.Breakpoint[editorBreakpoint]

type editorBreakpoint struct {
	request
	place
	message string // why it is pending
}

// place is the position of a breakpoint in the code.
type place struct {
	address uint64
	file    string // as in debugging information
	line    int
}

// conditions: a line can be in several functions, and only some of them may have the names
// in a condition. Convenience variables belong to the client's loop, but the goroutine that
// runs the code evaluates conditions.
var conditions = frontend.Conditions{Failed: func(_ int, condition string, err error) error {
	return fmt.Errorf("condition %s: %w", condition, err)
}}

const maxBreakpoints = 4096 // of a client

// replace replaces the breakpoints of a group by those in list.
func (c *client) replace(inGroup func(*request) bool, list []request) ([]dap.Breakpoint, error) {
	old := map[request][]*breakpoint{}
	others := 0
	for _, b := range c.breakpoints.List() {
		if inGroup(&b.Own.request) {
			old[b.Own.request] = append(old[b.Own.request], b)
		} else {
			others++
		}
	}
	if others+len(list) > maxBreakpoints {
		return nil, fmt.Errorf("%d breakpoints; at most %d can be set", others+len(list), maxBreakpoints)
	}
	var current []*breakpoint
	for _, r := range list {
		if same := old[r]; len(same) > 0 {
			current, old[r] = append(current, same[0]), same[1:]
			continue
		}
		b := &breakpoint{Own: editorBreakpoint{request: r}}
		c.breakpoints.Add(b)
		current = append(current, b)
	}
	for _, list := range old {
		for _, b := range list {
			c.unset(b)
			c.breakpoints.Drop(b)
		}
	}
	answers := make([]dap.Breakpoint, 0, len(current))
	for _, b := range current {
		if b.ID() == 0 {
			c.set(b)
		}
		answers = append(answers, c.describe(b))
	}
	return answers, nil
}

// replaceKind replaces all breakpoints of a kind.
func (c *client) replaceKind(kind breakpointKind, list []request) ([]dap.Breakpoint, error) {
	return c.replace(func(r *request) bool { return r.kind == kind }, list)
}

func (c *client) setBreakpoints(r *dap.SetBreakpointsRequest) (dap.Message, error) {
	a := r.Arguments
	var list []request
	if a.Breakpoints == nil {
		for _, line := range a.Lines {
			a.Breakpoints = append(a.Breakpoints, dap.SourceBreakpoint{Line: line})
		}
	}
	fault := ""
	if a.Source.Path == "" && a.Source.SourceReference == 0 {
		fault = "the source has neither a path nor a reference"
	}
	for _, b := range a.Breakpoints {
		list = append(list, request{kind: sourceBreakpoint, fault: fault, path: a.Source.Path, reference: a.Source.SourceReference,
			line: b.Line + 1 - c.lines, condition: b.Condition, hitCondition: b.HitCondition, log: b.LogMessage})
	}
	answers, err := c.replace(func(old *request) bool {
		return old.kind == sourceBreakpoint && old.path == a.Source.Path && old.reference == a.Source.SourceReference
	}, list)
	return &dap.SetBreakpointsResponse{Response: answer(r), Body: dap.SetBreakpointsResponseBody{Breakpoints: answers}}, err
}

func (c *client) setFunctionBreakpoints(r *dap.SetFunctionBreakpointsRequest) (dap.Message, error) {
	var list []request
	for _, b := range r.Arguments.Breakpoints {
		list = append(list, request{kind: functionBreakpoint, name: strings.TrimSpace(b.Name), condition: b.Condition, hitCondition: b.HitCondition})
	}
	answers, err := c.replaceKind(functionBreakpoint, list)
	return &dap.SetFunctionBreakpointsResponse{Response: answer(r), Body: dap.SetFunctionBreakpointsResponseBody{Breakpoints: answers}}, err
}

func (c *client) setInstructionBreakpoints(r *dap.SetInstructionBreakpointsRequest) (dap.Message, error) {
	var list []request
	for _, b := range r.Arguments.Breakpoints {
		address, err := parseReference(b.InstructionReference)
		q := request{kind: instructionBreakpoint, address: address + uint64(b.Offset), condition: b.Condition, hitCondition: b.HitCondition}
		if err != nil {
			q.fault = err.Error()
		}
		list = append(list, q)
	}
	answers, err := c.replaceKind(instructionBreakpoint, list)
	return &dap.SetInstructionBreakpointsResponse{Response: answer(r), Body: dap.SetInstructionBreakpointsResponseBody{Breakpoints: answers}}, err
}

// setExceptionBreakpoints accepts the filter for signals. Signals stop the code without it too, and
// a note says so.
func (c *client) setExceptionBreakpoints(r *dap.SetExceptionBreakpointsRequest) (dap.Message, error) {
	on := slices.Contains(r.Arguments.Filters, signalFilter) ||
		slices.ContainsFunc(r.Arguments.FilterOptions, func(o dap.ExceptionFilterOptions) bool { return o.FilterId == signalFilter })
	if c.exceptions && !on {
		c.output("console", "Signals still stop the code: they cannot be passed to it.\n")
	}
	c.exceptions = on
	list := make([]dap.Breakpoint, len(r.Arguments.Filters)+len(r.Arguments.FilterOptions))
	for i := range list {
		filter := ""
		if n := len(r.Arguments.Filters); i < n {
			filter = r.Arguments.Filters[i]
		} else {
			filter = r.Arguments.FilterOptions[i-n].FilterId
		}
		if list[i].Verified = filter == signalFilter; !list[i].Verified {
			list[i].Message = fmt.Sprintf("there is no exception filter %q; expected %q", filter, signalFilter)
		}
	}
	return &dap.SetExceptionBreakpointsResponse{Response: answer(r), Body: dap.SetExceptionBreakpointsResponseBody{Breakpoints: list}}, nil
}

func (c *client) set(b *breakpoint) {
	if b.Own.message = b.Own.fault; b.Own.fault != "" {
		return
	}
	try := func(set func(*breakpoint) error) {
		if err := set(b); err != nil {
			b.Own.message = err.Error()
		}
	}
	if b.Own.kind != dataBreakpoint {
		try(c.setInCode)
	} else if !c.whileInterrupted(func() { try(c.setData) }) {
		b.Own.message = "it will be set at the next stop"
	}
}

// setInCode sets a breakpoint that is not a data breakpoint.
func (c *client) setInCode(b *breakpoint) error {
	addresses, location, err := c.locate(b)
	if err != nil {
		return err
	}
	c.placeAt(b, addresses[0])
	if err := c.setConditions(b, addresses, nil); err != nil {
		return err
	}
	if err := c.setLog(b, addresses); err != nil {
		return err
	}
	return c.breakpoints.Break(b, location, addresses[0])
}

// setData sets a data breakpoint. The session must not run.
func (c *client) setData(b *breakpoint) error {
	var f *frontend.Frame
	if c.stop != nil {
		if list, err := c.stack(1); err == nil && len(list) > 0 {
			f = list[0]
		}
	}
	if err := c.setConditions(b, nil, f); err != nil {
		return err
	}
	return c.breakpoints.WatchMemory(b, &frontend.Watch{}, b.Own.request.address, b.Own.size, b.Own.access)
}

// locate returns the addresses of a breakpoint, and the session's name for its location.
func (c *client) locate(b *breakpoint) (addresses []uint64, location string, err error) {
	switch r := &b.Own.request; r.kind {
	case sourceBreakpoint:
		b.Own.file, addresses, err = c.locateLine(r.path, r.reference, r.line)
		return addresses, fmt.Sprintf("%s:%d", b.Own.file, r.line), err
	case functionBreakpoint:
		addresses, err = c.target.session.Locate(r.name)
		return addresses, r.name, err
	default:
		return []uint64{r.address}, "", nil
	}
}

// placeAt records the place of a breakpoint that will be set at an address.
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

func (c *client) describe(b *breakpoint) dap.Breakpoint {
	d := dap.Breakpoint{Id: b.Number, Verified: b.ID() != 0, Message: b.Own.message}
	switch p := &b.Own.place; {
	case b.Set == nil && b.Own.kind == sourceBreakpoint:
		d.Line = c.line(b.Own.request.line)
	case b.Set != nil:
		d.InstructionReference = reference(p.address)
		if p.line != 0 {
			d.Line, d.Source = c.line(p.line), c.sourceOf(p.file)
		}
	}
	return d
}

// line converts a line, counted from 1, to the client's counting.
func (c *client) line(n int) int { return n - 1 + c.lines }

func (c *client) unset(b *breakpoint) {
	remove := func() { _ = c.breakpoints.Unset(b) } // it fails only for a watchpoint while code runs
	if b.Watch != nil {
		c.whileInterrupted(remove)
		return
	}
	remove()
}

// verify tries to set the pending breakpoints, because there may be new images.
func (c *client) verify() {
	for _, b := range c.breakpoints.List() {
		if b.ID() != 0 {
			continue
		}
		oldMessage := b.Own.message
		if b.Own.kind != dataBreakpoint {
			c.set(b)
		}
		if b.ID() != 0 || b.Own.message != oldMessage {
			c.connection.write(&dap.BreakpointEvent{Event: event("breakpoint"), Body: dap.BreakpointEventBody{Reason: "changed", Breakpoint: c.describe(b)}})
		}
	}
}

// breakpointLocations returns the lines with code in a range.
func (c *client) breakpointLocations(r *dap.BreakpointLocationsRequest) (dap.Message, error) {
	response := &dap.BreakpointLocationsResponse{Response: answer(r)}
	response.Body.Breakpoints = []dap.BreakpointLocation{}
	if r.Arguments == nil {
		return response, nil
	}
	a := r.Arguments
	first := a.Line + 1 - c.lines
	last := max(first, a.EndLine+1-c.lines)
	const maxLines = 1000
	for line := first; line <= last && line-first < maxLines; {
		_, addresses, err := c.locateLine(a.Source.Path, a.Source.SourceReference, line)
		if err != nil {
			break
		}
		next := 0
		for _, address := range addresses {
			for _, l := range frontend.Locations(c.target.session, address) {
				if l.Line >= line && (next == 0 || l.Line < next) {
					next = l.Line
				}
			}
		}
		if next == 0 || next > last {
			break
		}
		response.Body.Breakpoints = append(response.Body.Breakpoints, dap.BreakpointLocation{Line: c.line(next)})
		line = next + 1
	}
	return response, nil
}
