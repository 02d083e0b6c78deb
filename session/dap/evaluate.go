// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
)

// past returns a value of the history, which has the values of the editor's console.
func (c *client) past(n int, relative bool) (value.Value, error) {
	x, n := c.values.Past(n, relative)
	if n > c.values.Recorded() {
		//lint:ignore ST1005 gdb's own sentence
		return x, fmt.Errorf("History has not yet reached $%d.", n)
	}
	return x, nil
}

// readOnly is a frame without value.Writer, so that expressions cannot change it.
type readOnly struct{ value.Frame }

// ThreadAddress implements value.ThreadStorage.
func (r readOnly) ThreadAddress(offset uint64) (uint64, error) {
	return r.Frame.(value.ThreadStorage).ThreadAddress(offset)
}

// CallsItself implements value.SelfCaller.
func (r readOnly) CallsItself() bool {
	f, ok := r.Frame.(value.SelfCaller)
	return ok && f.CallsItself()
}

// evaluateIn evaluates an expression in a frame, or outside of calls where f is nil.
func (c *client) evaluateIn(f *frontend.Frame, text string) (value.Value, error) {
	return frontend.Evaluate(text, c.values.Context(f), c.values.Frame(f))
}

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
		// Users of gdb write a command before an expression.
		for _, word := range [...]string{"print ", "p ", "set var ", "set variable "} {
			if expression, ok := strings.CutPrefix(text, word); ok && !strings.HasPrefix(strings.TrimSpace(expression), "=") {
				text = expression
				break
			}
		}
	}
	if text == "abort" && a.Context == "repl" && c.stop != nil && c.target.session.Nested() > 0 {
		c.proceed(c.target.session.Abort, false)
		return &dap.EvaluateResponse{Response: answer(r)}, nil
	}
	often := a.Context == "hover" || a.Context == "watch" // and without the user
	context := c.values.Context(f)
	context.Call = c.callNested
	if often {
		context.Call = func(value.Frame, value.Value, []value.Value) (value.Value, error) { return value.Value{}, errOften }
	}
	e, err := expression.Compile(text, context)
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
	if f != nil && often {
		in = readOnly{in}
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
		c.frames.Forget() // it may be an assignment
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
		name = "(" + text + ")"
	}
	response.Body.VariablesReference, response.Body.NamedVariables, response.Body.IndexedVariables = c.expandable(variable{name: text, value: v, evaluate: name}, f)
	response.Body.MemoryReference = memoryReference(v)
	return response, nil
}

// printed returns a value as gdb's print command shows it.
func (c *client) printed(v value.Value, hex bool) (string, error) {
	if v.Type() == nil {
		return "void", nil
	}
	text, err := c.printerFor(hex).Print(v)
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
		body.VariablesReference, body.NamedVariables, body.IndexedVariables = c.expandable(variable{name: a.Expression, value: v, evaluate: "(" + a.Expression + ")"}, f)
	}
	c.frames.Forget()
	return &dap.SetExpressionResponse{Response: answer(r), Body: body}, nil
}

// assigned is the convenience variable that setExpression assigns from.
const assigned = "__assigned"

const maxCompletions = 200

func (c *client) completions(r *dap.CompletionsRequest) (dap.Message, error) {
	a := r.Arguments
	f, err := c.frameOf(a.FrameId)
	if err != nil {
		return nil, err
	}
	text := a.Text
	if n := a.Column - c.columns; n >= 0 && n < len(text) {
		text = text[:n]
	}
	start := frontend.NameStart(text)
	found := map[string]dap.CompletionItemType{}
	for _, name := range c.values.Names(f, text[start:]) {
		if len(found) < maxCompletions && found[name.Text] == "" {
			found[name.Text] = [...]dap.CompletionItemType{frontend.Local: "variable", frontend.Global: "value", frontend.Function: "function"}[name.Kind]
		}
	}
	body := dap.CompletionsResponseBody{Targets: []dap.CompletionItem{}}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		body.Targets = append(body.Targets, dap.CompletionItem{Label: name, Type: found[name], Start: start + c.columns, Length: len(text) - start})
	}
	return &dap.CompletionsResponse{Response: answer(r), Body: body}, nil
}
