// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"fmt"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

// accesses are the supported access types. A write stops only if it changes the value.
var accesses = map[dap.DataBreakpointAccessType]session.Access{"": session.Change, "write": session.Change, "readWrite": session.ReadWrite}

// dataBreakpointInfo reports whether an object can be watched: it must be in memory, with a
// size that a debug register supports. The ID is the address and the size.
func (c *client) dataBreakpointInfo(r *dap.DataBreakpointInfoRequest) (dap.Message, error) {
	response := &dap.DataBreakpointInfoResponse{Response: answer(r)}
	v, name, err := c.watched(r.Arguments)
	var address uint64
	var size int
	if err == nil {
		address, size, err = frontend.Watchable(name, v)
	}
	if err != nil {
		response.Body.Description = err.Error()
		return response, nil
	}
	response.Body = dap.DataBreakpointInfoResponseBody{DataId: fmt.Sprintf("%#x:%d", address, size), Description: fmt.Sprintf("%s (%d bytes at %#x)", name, size, address),
		AccessTypes: []dap.DataBreakpointAccessType{"write", "readWrite"}}
	return response, nil
}

// watched returns the object in the arguments, and an expression for it.
func (c *client) watched(a dap.DataBreakpointInfoArguments) (value.Value, string, error) {
	if a.VariablesReference != 0 {
		k, err := c.container(a.VariablesReference)
		if err != nil {
			return value.Value{}, a.Name, err
		}
		if k.registers {
			return value.Value{}, a.Name, fmt.Errorf("%s is a register", a.Name)
		}
		v, err := c.child(*k, a.Name)
		if v.evaluate != "" {
			a.Name = v.evaluate
		}
		return v.value, a.Name, err
	}
	f, err := c.selected(a.FrameId)
	if err != nil {
		return value.Value{}, a.Name, err
	}
	v, err := c.evaluateIn(f, a.Name)
	return v, a.Name, err
}

func (c *client) setDataBreakpoints(r *dap.SetDataBreakpointsRequest) (dap.Message, error) {
	var list []request
	for _, b := range r.Arguments.Breakpoints {
		data := request{kind: dataBreakpoint, condition: b.Condition, hitCondition: b.HitCondition, access: accesses[b.AccessType]}
		if n, err := fmt.Sscanf(b.DataId, "0x%x:%d", &data.address, &data.size); n != 2 || err != nil {
			data.fault = fmt.Sprintf("unknown data ID %q", b.DataId)
		} else if data.access == 0 {
			data.fault = fmt.Sprintf("access type %q is not supported; use write or readWrite", b.AccessType)
		}
		list = append(list, data)
	}
	answers, err := c.replaceKind(dataBreakpoint, list)
	return &dap.SetDataBreakpointsResponse{Response: answer(r), Body: dap.SetDataBreakpointsResponseBody{Breakpoints: answers}}, err
}
