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
	"github.com/clewdev/clew/session/frontend"
)

// setConditions sets the condition and the hit condition of a breakpoint. The names in the
// condition are those in scope at the addresses, or without addresses in the frame.
func (c *client) setConditions(b *breakpoint, addresses []uint64, f *frontend.Frame) (err error) {
	if err := c.breakpoints.SetCondition(b, strings.TrimSpace(b.Own.condition), addresses, f); err != nil {
		return fmt.Errorf("condition: %w", err)
	}
	if text := strings.TrimSpace(b.Own.hitCondition); text != "" {
		b.Counts, err = hitCondition(text)
	}
	return err
}

// setLog makes a breakpoint with a log message write it instead of stopping.
func (c *client) setLog(b *breakpoint, addresses []uint64) error {
	if b.Own.log == "" {
		return nil
	}
	message, err := c.breakpoints.LogMessage(b.Own.log, addresses)
	if err != nil {
		return err
	}
	body := dap.OutputEventBody{Category: "console"}
	if b.Own.place.line != 0 {
		body.Source, body.Line = c.sourceOf(b.Own.file), c.line(b.Own.place.line)
	}
	b.Log = func(f *session.Frame) error {
		body := body
		body.Output = message.Text(f, c.printer.Text) + "\n"
		c.connection.write(&dap.OutputEvent{Event: event("output"), Body: body})
		return nil
	}
	return nil
}

// hitConditions are the operators of hit conditions, with the number after the operator.
var hitConditions = map[string]func(hits, n int) bool{
	"":   func(hits, n int) bool { return hits == n },
	"=":  func(hits, n int) bool { return hits == n },
	"==": func(hits, n int) bool { return hits == n },
	">":  func(hits, n int) bool { return hits > n },
	">=": func(hits, n int) bool { return hits >= n },
	"<":  func(hits, n int) bool { return hits < n },
	"<=": func(hits, n int) bool { return hits <= n },
	"%":  func(hits, n int) bool { return hits%n == 0 },
}

// hitCondition compiles a hit condition such as "5" or ">= 5". The result reports whether a
// hit, counted from 1, stops.
func hitCondition(text string) (func(int) bool, error) {
	number := strings.TrimLeft(text, "=<>%")
	operator := text[:len(text)-len(number)]
	stops, known := hitConditions[operator]
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if !known || err != nil || n < 0 || n == 0 && operator == "%" {
		return nil, fmt.Errorf("invalid hit condition %q: expected a number, or a number after =, >, >=, <, <= or %%", text)
	}
	return func(hits int) bool { return stops(hits, n) }, nil
}
