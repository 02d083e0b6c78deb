// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
)

// past returns a value of the history: what was evaluated in the console.
func (c *client) past(n int, relative bool) (value.Value, error) {
	x, n := c.values.Past(n, relative)
	if n > c.values.Recorded() {
		//lint:ignore ST1005 gdb's own sentence
		return x, fmt.Errorf("History has not yet reached $%d.", n)
	}
	return x, nil
}

// readOnly is a frame that expressions cannot change.
type readOnly struct{ value.Frame }

// ThreadAddress returns where a thread-local variable is.
func (r readOnly) ThreadAddress(offset uint64) (uint64, error) {
	return r.Frame.(value.ThreadStorage).ThreadAddress(offset)
}

// evaluateIn evaluates an expression in a frame, or outside of calls where f is nil.
func (c *client) evaluateIn(f *frontend.Frame, text string) (value.Value, error) {
	return frontend.Evaluate(text, c.values.Context(f), c.values.Frame(f))
}

// selected returns the frame that an expression is evaluated in.
func (c *client) selected(id int) (*frontend.Frame, error) {
	if c.running {
		return nil, errRunning
	}
	if c.stop == nil && id == 0 {
		return nil, nil
	}
	return c.frameOf(id)
}

const maxHistory = 1 << 14

func (c *client) evaluate(r *dap.EvaluateRequest) (dap.Message, error) {
	a := r.Arguments
	f, err := c.selected(a.FrameId)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(a.Expression)
	if a.Context == "repl" {
		// What gdb's users write before an expression.
		for _, word := range [...]string{"print ", "p ", "set var ", "set variable "} {
			if rest, ok := strings.CutPrefix(text, word); ok && !strings.HasPrefix(strings.TrimSpace(rest), "=") {
				text = rest
				break
			}
		}
	}
	e, err := expression.Compile(text, c.values.Context(f))
	if err != nil {
		return nil, err
	}
	response := &dap.EvaluateResponse{Response: answer(r)}
	if e.IsType() {
		t, err := e.Type()
		if err != nil {
			return nil, err
		}
		response.Body = dap.EvaluateResponseBody{Result: t.String(), Type: "type"}
		return response, nil
	}
	in := c.values.Frame(f)
	if f != nil && (a.Context == "hover" || a.Context == "watch") {
		in = readOnly{in} // evaluated unasked, and often
	}
	v, err := e.Evaluate(in)
	if err != nil {
		return nil, err
	}
	hex := a.Format != nil && a.Format.Hex
	response.Body.Result, err = c.printed(v, hex)
	if err != nil {
		return nil, err
	}
	if a.Context == "repl" && f != nil {
		c.changed() // by an assignment, perhaps
	}
	if a.Context == "repl" && c.values.Recorded() < maxHistory {
		c.values.Record(v)
	}
	if v.Type() == nil {
		return response, nil
	}
	response.Body.Type = v.Type().String()
	name := text
	if strings.ContainsAny(text, " =") {
		name = parenthesised(text)
	}
	response.Body.VariablesReference, response.Body.NamedVariables, response.Body.IndexedVariables = c.expandable(named{name: text, value: v, evaluate: name}, f)
	response.Body.MemoryReference = memoryReference(v)
	return response, nil
}

// printed returns a value as gdb's print shows it.
func (c *client) printed(v value.Value, hex bool) (string, error) {
	if v.Type() == nil {
		return "void", nil
	}
	p := c.printer
	if hex {
		p.Format = 'x'
	}
	text, err := p.Print(v)
	if err != nil {
		return "", errors.New(expression.Sentence(err))
	}
	return text, nil
}

func (c *client) setExpression(r *dap.SetExpressionRequest) (dap.Message, error) {
	a := r.Arguments
	f, err := c.selected(a.FrameId)
	if err != nil {
		return nil, err
	}
	source, err := c.evaluateIn(f, a.Value)
	if err != nil {
		return nil, err
	}
	c.values.Convenience[assigned] = source
	defer delete(c.values.Convenience, assigned)
	v, err := c.evaluateIn(f, "("+a.Expression+") = $"+assigned)
	if err != nil {
		return nil, err
	}
	body := dap.SetExpressionResponseBody{}
	if body.Value, err = c.printed(v, a.Format != nil && a.Format.Hex); err != nil {
		return nil, err
	}
	if v.Type() != nil {
		body.Type = v.Type().String()
		body.VariablesReference, body.NamedVariables, body.IndexedVariables = c.expandable(named{name: a.Expression, value: v, evaluate: "(" + a.Expression + ")"}, f)
	}
	c.changed()
	return &dap.SetExpressionResponse{Response: answer(r), Body: body}, nil
}

// assigned is a convenience variable for what setExpression assigns.
const assigned = "__assigned"
