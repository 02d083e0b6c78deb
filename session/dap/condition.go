// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package dap

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/go-dap"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value/expression"
)

// condition says whether a hit counts.
type condition = func(*session.Frame) (bool, error)

// options makes of the texts of a breakpoint what the session wants, in the scopes
// at its addresses.
func (c *client) options(b *breakpoint, addresses []uint64) (*session.BreakpointOptions, error) {
	o := &session.BreakpointOptions{}
	if text := strings.TrimSpace(b.condition); text != "" {
		// A line can be in several functions, where names mean different things.
		conditions := map[uint64]condition{}
		var failed error
		for _, address := range addresses {
			f, err := c.target.session.Condition(text, address)
			if err != nil {
				failed = fmt.Errorf("condition: %w", err)
				continue
			}
			conditions[address] = f
		}
		if len(conditions) == 0 {
			return nil, failed
		}
		o.Condition = func(f *session.Frame) (bool, error) {
			if b.kind == dataBreakpoint { // anywhere
				return conditions[addresses[0]](f)
			}
			if holds := conditions[f.PC]; holds != nil {
				return holds(f)
			}
			return false, nil
		}
	}
	if strings.TrimSpace(b.hitCondition) != "" {
		counts, err := hitCondition(b.hitCondition)
		if err != nil {
			return nil, err
		}
		o.Condition = counted(o.Condition, counts)
	}
	if b.log != "" {
		log, err := c.logpoint(b, addresses)
		if err != nil {
			return nil, err
		}
		o.Log = log
	}
	return o, nil
}

// counted counts the hits for which a condition holds.
func counted(holds condition, counts func(int) bool) condition {
	hits := 0
	return func(f *session.Frame) (bool, error) {
		if holds != nil {
			if yes, err := holds(f); err != nil || !yes {
				return yes, err
			}
		}
		hits++
		return counts(hits), nil
	}
}

// hitCondition understands "5", "= 5", "== 5", "> 5", ">= 5", "< 5", "<= 5",
// "% 5": at which hits to stop, counted from 1.
func hitCondition(text string) (func(int) bool, error) {
	text = strings.TrimSpace(text)
	number := strings.TrimLeft(text, "=<>%")
	op := text[:len(text)-len(number)]
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil || n < 0 {
		return nil, fmt.Errorf("hit condition %q is not understood: expected a number, or one after =, >, >=, <, <= or %%", text)
	}
	switch op {
	case "", "=", "==":
		return func(hits int) bool { return hits == n }, nil
	case ">":
		return func(hits int) bool { return hits > n }, nil
	case ">=":
		return func(hits int) bool { return hits >= n }, nil
	case "<":
		return func(hits int) bool { return hits < n }, nil
	case "<=":
		return func(hits int) bool { return hits <= n }, nil
	case "%":
		if n > 0 {
			return func(hits int) bool { return hits%n == 0 }, nil
		}
	}
	return nil, fmt.Errorf("hit condition %q is not understood: expected a number, or one after =, >, >=, <, <= or %%", text)
}

// part is a part of a log message: text, or an expression by the address that it
// was compiled for.
type part struct {
	text       string
	expression map[uint64]*expression.Expression
}

// logpoint makes of "x is {x}" what shows it at every hit.
func (c *client) logpoint(b *breakpoint, addresses []uint64) (func(*session.Frame) error, error) {
	parts, err := splitLog(b.log)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		if parts[i].expression == nil {
			continue
		}
		var failed error
		for _, address := range addresses {
			e, err := expression.Compile(parts[i].text, c.target.session.Context(address))
			if err != nil {
				failed = fmt.Errorf("{%s}: %w", parts[i].text, err)
				continue
			}
			parts[i].expression[address] = e
		}
		if len(parts[i].expression) == 0 {
			return nil, failed
		}
	}
	body := dap.OutputEventBody{Category: "console"}
	if b.line != 0 {
		body.Source, body.Line = c.sourceOf(b.file), c.line(b.line)
	}
	return func(f *session.Frame) error {
		var text strings.Builder
		for _, p := range parts {
			text.WriteString(c.logged(p, f))
		}
		text.WriteByte('\n')
		said := body
		said.Output = text.String()
		c.connection.write(&dap.OutputEvent{Event: event("output"), Body: said})
		return nil
	}, nil
}

// logged returns the text of a part of a log message.
func (c *client) logged(p part, f *session.Frame) string {
	if p.expression == nil {
		return p.text
	}
	e := p.expression[f.PC]
	if e == nil {
		return "{" + p.text + "}"
	}
	v, err := e.Evaluate(f)
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return c.printer.Text(v)
}

// splitLog splits a log message at its braces. A backslash makes a brace one.
func splitLog(text string) ([]part, error) {
	var parts []part
	var literal strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && strings.IndexByte(`{}\`, text[i+1]) >= 0:
			i++
			literal.WriteByte(text[i])
		case text[i] == '{':
			end, depth := i+1, 1
			for ; end < len(text); end++ {
				if text[end] == '{' {
					depth++
				} else if text[end] == '}' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			if depth > 0 {
				return nil, fmt.Errorf("log message: no } for the { in %q", text[i:])
			}
			if literal.Len() > 0 {
				parts = append(parts, part{text: literal.String()})
				literal.Reset()
			}
			parts = append(parts, part{text: text[i+1 : end], expression: map[uint64]*expression.Expression{}})
			i = end
		default:
			literal.WriteByte(text[i])
		}
	}
	if literal.Len() > 0 {
		parts = append(parts, part{text: literal.String()})
	}
	return parts, nil
}
