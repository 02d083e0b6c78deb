// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
	"github.com/clewdev/clew/value/expression"
	"github.com/clewdev/clew/value/print"
)

// container has the variables that a reference of the protocol stands for. They are read
// when the editor asks for them.
type container struct {
	list      []variable // of a scope
	value     value.Value
	name      string          // an expression for the value, or ""
	frame     *frontend.Frame // for evaluation; nil if no call is stopped
	registers bool
	class     session.RegisterClass
}

type variable struct {
	name     string
	value    value.Value
	evaluate string // an expression for the variable, or ""
	text     string // shown if there is no value
}

const (
	maxContainers = 1 << 16 // of one stop
	maxChildren   = 1 << 12 // of one answer
)

// refer returns a reference to a container, 0 if there are too many.
func (c *client) refer(to container) int {
	if len(c.containers) >= maxContainers {
		return 0
	}
	c.containers = append(c.containers, to)
	return c.base + len(c.containers) - 1
}

func (c *client) container(reference int) (*container, error) {
	n := reference - c.base
	if n < 0 || n >= len(c.containers) {
		return nil, errors.New("the variable belongs to another stop")
	}
	return &c.containers[n], nil
}

func (c *client) scopes(r *dap.ScopesRequest) (dap.Message, error) {
	f, err := c.frameOf(r.Arguments.FrameId)
	if err != nil {
		return nil, err
	}
	body := dap.ScopesResponseBody{Scopes: []dap.Scope{}}
	add := func(name, hint string, expensive bool, to container) {
		to.frame = f
		if reference := c.refer(to); reference != 0 {
			body.Scopes = append(body.Scopes, dap.Scope{Name: name, PresentationHint: hint, VariablesReference: reference, NamedVariables: len(to.list), Expensive: expensive})
		}
	}
	if f.Scope != nil {
		add("Arguments", "arguments", false, container{list: read(f.Scope.Arguments, f.Physical)})
		add("Locals", "locals", false, container{list: locals(f)})
		if globals := f.Globals(); len(globals) > 0 {
			add("Globals of the file", "", true, container{list: read(globals, f.Physical)})
		}
	}
	if c.target.Locals != nil {
		if list := textVariables(c.target.Locals(f.Physical)); len(list) > 0 {
			add("State", "locals", false, container{list: list})
		}
	}
	add("Registers", "registers", true, container{registers: true, class: session.GeneralRegister})
	if f.Physical.Innermost() {
		add("Floating-point registers", "registers", true, container{registers: true, class: session.FloatRegister})
		add("Vector registers", "registers", true, container{registers: true, class: session.VectorRegister})
	}
	return &dap.ScopesResponse{Response: answer(r), Body: body}, nil
}

// textVariables returns variables for lines of the form "name = value".
func textVariables(lines []string) []variable {
	var list []variable
	for _, line := range lines {
		name, text, _ := strings.Cut(line, " = ")
		list = append(list, variable{name: name, text: text})
	}
	return list
}

func read(variables []*value.Variable, f *session.Frame) []variable {
	var list []variable
	for _, v := range variables {
		list = append(list, variable{name: v.Name, value: v.Read(f), evaluate: v.Name})
	}
	return list
}

// locals returns the variables of all blocks, the innermost block first. A variable that a
// name of an inner block hides has no expression.
func locals(f *frontend.Frame) []variable {
	var list []variable
	seen := map[string]bool{}
	for _, b := range f.Scope.Blocks {
		for _, v := range read(b.Variables, f.Physical) {
			if seen[v.name] {
				v.evaluate = ""
			}
			seen[v.name] = true
			list = append(list, v)
		}
	}
	return list
}

func (c *client) variablesOf(r *dap.VariablesRequest) (dap.Message, error) {
	a := r.Arguments
	k, err := c.container(a.VariablesReference)
	if err != nil {
		return nil, err
	}
	hex := a.Format != nil && a.Format.Hex
	body := dap.VariablesResponseBody{Variables: []dap.Variable{}}
	if k.registers {
		body.Variables = c.registersOf(*k, hex)
	} else {
		for _, v := range c.children(*k, a.Filter, a.Start, a.Count) {
			body.Variables = append(body.Variables, c.shown(v, k.frame, hex))
		}
	}
	return &dap.VariablesResponse{Response: answer(r), Body: body}, nil
}

// children returns the variables in a container. start and count select elements.
func (c *client) children(k container, filter string, start, count int) []variable {
	if count <= 0 || count > maxChildren {
		count = maxChildren
	}
	start = max(start, 0)
	if k.list != nil || k.value.Type() == nil {
		if filter == "indexed" {
			return nil
		}
		return k.list[min(start, len(k.list)):min(start+count, len(k.list))]
	}
	t := k.value.Type().Strip()
	switch t.Kind() {
	case value.Array:
		if filter == "named" {
			return nil
		}
		length, _ := t.Len()
		var list []variable
		for i := uint64(start); i < length && len(list) < count; i++ {
			name := "[" + strconv.FormatUint(i, 10) + "]"
			list = append(list, variable{name: name, value: k.value.Index(int64(i)), evaluate: around("", k.name, name)})
		}
		return list
	case value.Struct, value.Class, value.Union:
		if filter == "indexed" {
			return nil
		}
		return fields(k.value, k.name, start, count)
	case value.Pointer, value.Reference, value.RvalueReference:
		if filter == "indexed" || start > 0 {
			return nil
		}
		to := k.value.Deref()
		if to.Type() == nil {
			return nil
		}
		name := k.name
		if t.Kind() == value.Pointer {
			name = around("*(", name, ")")
		}
		switch to.Type().Strip().Kind() {
		case value.Struct, value.Class, value.Union:
			return fields(to, around("(", name, ")"), 0, count) // saves a click
		}
		return []variable{{name: "*", value: to, evaluate: name}}
	}
	return nil
}

func fields(v value.Value, name string, start, count int) []variable {
	var list []variable
	for i, f := range v.Type().Strip().Fields() {
		if f.Static != nil || i < start {
			continue
		}
		if len(list) == count {
			break
		}
		field := variable{name: f.Name, value: v.Field(i), evaluate: around("", name, "."+f.Name)}
		switch {
		case f.Base:
			field.name, field.evaluate = f.Type.String(), name
		case f.Name == "":
			field.name, field.evaluate = "<anonymous>", name // its members are members of v
		}
		list = append(list, field)
	}
	return list
}

// around adds text before and after an expression. Without an expression it returns "".
func around(before, expression, after string) string {
	if expression == "" {
		return ""
	}
	return before + expression + after
}

func (c *client) shown(v variable, f *frontend.Frame, hex bool) dap.Variable {
	d := dap.Variable{Name: v.name, Value: c.text(v.value, hex), EvaluateName: v.evaluate}
	if v.value.Type() == nil {
		d.Value = v.text
		return d
	}
	d.Type = v.value.Type().String()
	d.VariablesReference, d.NamedVariables, d.IndexedVariables = c.expandable(v, f)
	d.MemoryReference = memoryReference(v.value)
	return d
}

func (c *client) text(v value.Value, hex bool) string {
	if v.Type() == nil {
		return "void"
	}
	return c.printerFor(hex).Text(v)
}

// printerFor returns the printer for decimal or hexadecimal numbers.
func (c *client) printerFor(hex bool) *print.Printer {
	p := c.printer
	if hex {
		p.Format = 'x'
	}
	return &p
}

// expandable returns a reference to the parts of a value, 0 if it has none, and the numbers
// of its named and indexed parts.
func (c *client) expandable(v variable, f *frontend.Frame) (reference, names, indices int) {
	if v.value.Err() != nil {
		return 0, 0, 0
	}
	hasParts := false
	switch t := v.value.Type().Strip(); t.Kind() {
	case value.Array:
		length, _ := t.Len()
		indices = int(min(length, 1<<30))
		hasParts = indices > 0
	case value.Struct, value.Class, value.Union:
		names = len(t.Fields())
		hasParts = names > 0
	case value.Pointer, value.Reference, value.RvalueReference:
		to := t.Elem().Strip().Kind()
		hasParts = to != value.Void && to != value.Func && to != value.Unknown
		if address, err := v.value.Uint(); t.Kind() == value.Pointer && (err != nil || address == 0) {
			hasParts = false
		}
	}
	if !hasParts {
		return 0, 0, 0
	}
	return c.refer(container{value: v.value, name: v.evaluate, frame: f}), names, indices
}

// memoryReference returns the address for the memory view: the target of a pointer, or the
// object itself. It is "" for other values.
func memoryReference(v value.Value) string {
	if v.Err() != nil {
		return ""
	}
	switch v.Type().Strip().Kind() {
	case value.Pointer:
		if address, err := v.Uint(); err == nil && address != 0 {
			return reference(address)
		}
	case value.Array, value.Struct, value.Class, value.Union, value.Func:
		if address, ok := v.Address(); ok {
			return reference(address)
		}
	}
	return ""
}

func (c *client) registersOf(k container, hex bool) []dap.Variable {
	list := []dap.Variable{}
	context := c.values.Context(k.frame)
	for _, info := range c.target.session.RegisterInfos() {
		if info.Class != k.class {
			continue
		}
		d := dap.Variable{Name: info.Name, EvaluateName: "$" + info.Name, Value: "<unavailable>"}
		e, err := expression.Compile(d.EvaluateName, context)
		if err != nil {
			continue
		}
		if v, err := e.Evaluate(k.frame.Physical); err == nil && v.Type() != nil && v.Type().Kind() != value.Void {
			d = c.shown(variable{name: info.Name, value: v, evaluate: "$" + info.Name}, k.frame, hex)
		} else if k.frame.Physical.Innermost() {
			b, err := c.target.session.Register(info.Name)
			if err != nil {
				continue
			}
			slices.Reverse(b)
			d.Value, d.EvaluateName = fmt.Sprintf("0x%x", b), ""
		}
		list = append(list, d)
	}
	return list
}

func (c *client) setVariable(r *dap.SetVariableRequest) (dap.Message, error) {
	a := r.Arguments
	k, err := c.container(a.VariablesReference)
	if err != nil {
		return nil, err
	}
	v, err := c.assign(k, a.Name, a.Value)
	if err != nil {
		return nil, err
	}
	body := dap.SetVariableResponseBody{Value: c.text(v.value, a.Format != nil && a.Format.Hex)}
	if v.value.Type() != nil {
		body.Type = v.value.Type().String()
		body.VariablesReference, body.NamedVariables, body.IndexedVariables = c.expandable(v, k.frame)
	}
	c.frames.Forget()
	return &dap.SetVariableResponse{Response: answer(r), Body: body}, nil
}

// assign assigns the value of an expression to a variable in a container.
func (c *client) assign(k *container, name, text string) (variable, error) {
	if k.registers {
		if !slices.ContainsFunc(c.target.session.RegisterInfos(), func(r session.RegisterInfo) bool { return r.Name == name }) {
			return variable{}, fmt.Errorf("there is no register %s", name)
		}
		v, err := c.evaluateIn(k.frame, "$"+name+" = "+text)
		return variable{name: name, value: v, evaluate: "$" + name}, err
	}
	target, err := c.child(*k, name)
	if err != nil {
		return target, err
	}
	v, err := c.evaluateIn(k.frame, text)
	switch {
	case err != nil:
		return target, err
	case target.value.Type() == nil:
		return target, fmt.Errorf("%s cannot be set", name)
	case v.Type() == nil:
		return target, fmt.Errorf("%s has no value", text)
	}
	return target, expression.Assign(target.value, v)
}

func (c *client) child(k container, name string) (variable, error) {
	start, count := 0, 0
	if len(name) > 2 && name[0] == '[' {
		if n, err := strconv.Atoi(name[1 : len(name)-1]); err == nil && n >= 0 {
			start, count = n, 1
		}
	}
	for _, v := range c.children(k, "", start, count) {
		if v.name == name {
			return v, nil
		}
	}
	return variable{}, fmt.Errorf("there is no %s", name)
}
