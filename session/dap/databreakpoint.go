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

// accessOf returns the access that a type of the protocol means, 0 for others. A
// write that changes nothing is not worth a stop to who debugs.
func accessOf(typ dap.DataBreakpointAccessType) session.Access {
	switch typ {
	case "", "write":
		return session.Change
	case "readWrite":
		return session.ReadWrite
	}
	return 0
}

// dataBreakpointInfo tells what can be watched: objects in memory of a size that
// a debug register takes. The ID is the address and the size.
func (c *client) dataBreakpointInfo(r *dap.DataBreakpointInfoRequest) (dap.Message, error) {
	response := &dap.DataBreakpointInfoResponse{Response: answer(r)}
	v, name, err := c.watched(r.Arguments)
	if err != nil {
		response.Body.Description = err.Error()
		return response, nil
	}
	address, size, err := frontend.Watchable(name, v)
	if err != nil {
		response.Body.Description = err.Error()
		return response, nil
	}
	response.Body = dap.DataBreakpointInfoResponseBody{DataId: fmt.Sprintf("%#x:%d", address, size), Description: fmt.Sprintf("%s (%d bytes at %#x)", name, size, address),
		AccessTypes: []dap.DataBreakpointAccessType{"write", "readWrite"}}
	return response, nil
}

// watched returns the object that the editor asks of.
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
	var list []wanted
	for _, b := range r.Arguments.Breakpoints {
		w := wanted{kind: dataBreakpoint, condition: b.Condition, hitCondition: b.HitCondition, access: accessOf(b.AccessType)}
		if n, err := fmt.Sscanf(b.DataId, "0x%x:%d", &w.address, &w.size); n != 2 || err != nil {
			return nil, fmt.Errorf("unknown data ID %q", b.DataId)
		}
		if w.access == 0 {
			return nil, fmt.Errorf("access type %q is not supported: write and readWrite are", b.AccessType)
		}
		list = append(list, w)
	}
	answers, err := c.replace(func(w *wanted) bool { return w.kind == dataBreakpoint }, list)
	if err != nil {
		return nil, err
	}
	return &dap.SetDataBreakpointsResponse{Response: answer(r), Body: dap.SetDataBreakpointsResponseBody{Breakpoints: answers}}, nil
}
