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
)

// prepare compiles what the editor has said of a breakpoint, in the scopes at its
// addresses.
func (c *client) prepare(b *breakpoint, addresses []uint64) error {
	if err := c.breakpoints.SetCondition(b, strings.TrimSpace(b.Own.condition), addresses, nil); err != nil {
		return fmt.Errorf("condition: %w", err)
	}
	if err := setHitCondition(b); err != nil {
		return err
	}
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

// setHitCondition sets at which hits a breakpoint stops.
func setHitCondition(b *breakpoint) (err error) {
	if strings.TrimSpace(b.Own.hitCondition) != "" {
		b.Counts, err = hitCondition(b.Own.hitCondition)
	}
	return err
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
