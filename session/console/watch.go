// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"bytes"
	"errors"
	"strings"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

func (c *Console) watchCommand(args string) error { return c.setWatch(args, session.Change, false) }
func (c *Console) rwatch(args string) error       { return c.setWatch(args, session.ReadWrite, true) }
func (c *Console) awatch(args string) error       { return c.setWatch(args, session.ReadWrite, false) }

func (c *Console) setWatch(args string, access session.Access, readOnly bool) error {
	text, condition := CutCondition(args)
	location := false
	for _, flag := range []string{"-location ", "-l "} {
		if expression, ok := strings.CutPrefix(text, flag); ok {
			text, location = strings.TrimSpace(expression), true
		}
	}
	if text == "" {
		return errors.New("watch what? Name a variable, or memory: *(int *)0x601040")
	}
	v, err := c.evaluate(text)
	if err != nil {
		return err
	}
	address, size, err := frontend.Watchable(text, v)
	if err != nil {
		return err
	}
	b := &breakpoint{Location: text}
	if location {
		b.Location = "-location " + text
	}
	f := c.current()
	if err := c.breakpoints.SetCondition(b, condition, nil, f); err != nil {
		return err
	}
	if err := c.breakpoints.WatchMemory(b, &frontend.Watch{ReadOnly: readOnly, Type: v.Type()}, address, size, access); err != nil {
		return err
	}
	if f != nil && !location && c.isLocal(f, address) {
		b.Own.local, b.Own.nesting, b.Own.end = true, c.session.Nested(), c.breakAtEnd(f.Physical)
	}
	c.add(b)
	kind, _ := kindOf(b)
	c.printf("%s %d: %s\n", kind, b.Number, b.Location)
	return nil
}

// isLocal reports whether an address is in a frame on the stack.
func (c *Console) isLocal(f *frontend.Frame, address uint64) bool {
	cfa, ok := f.Physical.CFA()
	r, err := c.session.Registers()
	return ok && err == nil && address >= r.SP()-128 && address < cfa
}

func (c *Console) reportWatchpoint(stop *session.Stop) error {
	b := c.breakpointOf(stop)
	if b == nil {
		c.showHere()
		return c.showDisplays()
	}
	w := b.Watch
	text := func(p []byte) string {
		return c.printer(0).Text(value.Constant(w.Type, bytes.Clone(p), c.values.Outside()))
	}
	previous, current := w.Values()
	w.Last = current
	c.queueCommands(b)
	if isSilent(b) {
		return nil
	}
	if stop.Err != nil {
		c.printf("%v\n", stop.Err)
	}
	kind, _ := kindOf(b)
	c.printf("\n%s %d: %s\n\n", kind, b.Number, b.Location)
	if bytes.Equal(current, previous) {
		c.printf("Value = %s\n", text(current))
	} else {
		c.printf("Old value = %s\nNew value = %s\n", text(previous), text(current))
	}
	c.showHere()
	return c.showDisplays()
}

// leftScope ends the watchpoints on variables of the function that has returned to a
// breakpoint of breakAtEnd.
func (c *Console) leftScope(end *session.Breakpoint) {
	c.endWatches(func(b *breakpoint) bool { return end != nil && b.Own.end == end })
}

// leaveScopes ends the watchpoints on local variables at the end of a call. Those of the calls
// around a nested call remain.
func (c *Console) leaveScopes() {
	stopped := c.session.State() == session.Stopped
	c.endWatches(func(b *breakpoint) bool {
		return b.Own.local && (!stopped || b.Own.nesting > c.session.Nested())
	})
}

func (c *Console) endWatches(ends func(*breakpoint) bool) {
	for _, b := range c.breakpoints.List() {
		if ends(b) {
			c.printf("\nWatchpoint %d deleted because the program has left the block in\nwhich its expression is valid.\n", b.Number)
			_ = c.remove(b)
		}
	}
}
