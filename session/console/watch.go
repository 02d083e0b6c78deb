// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value"
)

// watch is what a watchpoint watches.
type watch struct {
	access session.Access
	read   bool // rwatch
	set    *session.Watchpoint
	typ    *value.Type
	last   []byte // the bytes as they were told last

	// Of a local variable: where the function returns to ends it.
	end *session.Breakpoint
	// local: a call's end ends it too.
	local bool
}

func (w *watch) kind() string {
	switch {
	case w.read:
		return "Hardware read watchpoint"
	case w.access == session.ReadWrite:
		return "Hardware access (read/write) watchpoint"
	}
	return "Hardware watchpoint"
}

func (w *watch) short() string {
	switch {
	case w.read:
		return "read watchpoint"
	case w.access == session.ReadWrite:
		return "acc watchpoint"
	}
	return "hw watchpoint"
}

func (c *Console) watchCommand(args string) error {
	return c.setWatch(args, &watch{access: session.Change})
}

func (c *Console) rwatch(args string) error {
	return c.setWatch(args, &watch{access: session.ReadWrite, read: true})
}

func (c *Console) awatch(args string) error {
	return c.setWatch(args, &watch{access: session.ReadWrite})
}

func (c *Console) setWatch(args string, w *watch) error {
	text, condition := cutCondition(args)
	location := false
	for _, flag := range []string{"-location ", "-l "} {
		if rest, ok := strings.CutPrefix(text, flag); ok {
			text, location = strings.TrimSpace(rest), true
		}
	}
	if text == "" {
		return errors.New("watch what? A variable, or what an address holds: *(int *)0x601040")
	}
	v, err := c.evaluate(text)
	if err != nil {
		return err
	}
	address, ok := v.Address()
	if !ok {
		return fmt.Errorf("%s is not in memory, and only memory can be watched", text)
	}
	size := v.Type().Size()
	if size != 1 && size != 2 && size != 4 && size != 8 || address%size != 0 {
		return fmt.Errorf("%s has %d bytes at %#x: 1, 2, 4 or 8 bytes at a multiple of their number can be watched, so watch a part of it", text, size, address)
	}
	w.typ = v.Type()
	b := &breakpoint{number: c.lastNumber + 1, location: text, watch: w}
	if location {
		b.location = "-location " + text
	}
	if err := c.setCondition(b, condition, nil); err != nil {
		return err
	}
	if condition != "" { // what it means is what it means here
		if _, _, err := c.compile(condition); err != nil {
			return err
		}
	}
	w.last = make([]byte, size)
	if err := c.session.ReadMemory(w.last, address); err != nil {
		return err
	}
	w.set, err = c.session.Watch(address, int(size), w.access, &session.BreakpointOptions{
		Condition: func(f *session.Frame) (bool, error) { return c.hitWatch(b, address, f) },
	})
	if err != nil {
		return err
	}
	if f := c.current(); f != nil && !location && c.isLocal(f, address) {
		w.local = true
		w.end = c.breakAtEnd()
	}
	c.lastNumber++
	c.breakpoints = append(c.breakpoints, b)
	c.printf("%s %d: %s\n", w.kind(), b.number, b.location)
	return nil
}

// isLocal reports whether an address is in a frame.
func (c *Console) isLocal(f *frontend.Frame, address uint64) bool {
	cfa, ok := f.Physical.CFA()
	r, err := c.session.Registers()
	return ok && err == nil && address >= r.SP()-128 && address < cfa
}

// hitWatch decides whether a watchpoint that was met stops. The machines of amd64
// tell reads and writes apart only by what has changed.
func (c *Console) hitWatch(b *breakpoint, address uint64, f *session.Frame) (bool, error) {
	if b.watch.read {
		now := make([]byte, len(b.watch.last))
		if err := c.session.ReadMemory(now, address); err == nil && !bytes.Equal(now, b.watch.last) {
			b.watch.last = now
			return false, nil
		}
	}
	return c.hit(b, f)
}

func (c *Console) tellWatchpoint(stop *session.Stop) error {
	b := c.breakpointOf(stop)
	if b == nil {
		c.showHere()
		return c.showDisplays()
	}
	w := b.watch
	text := func(p []byte) string {
		return c.printer(0).Text(value.Constant(w.typ, bytes.Clone(p), c.values.Outside()))
	}
	now := make([]byte, len(w.last))
	if err := c.session.ReadMemory(now, w.set.Address); err != nil {
		now = w.last
	}
	changed := !bytes.Equal(now, w.last)
	silent := len(b.commands) > 0 && b.commands[0] == "silent"
	if !silent {
		if stop.Err != nil {
			c.printf("%v\n", stop.Err)
		}
		c.printf("\n%s %d: %s\n\n", w.kind(), b.number, b.location)
		switch {
		case changed:
			c.printf("Old value = %s\nNew value = %s\n", text(w.last), text(now))
		default:
			c.printf("Value = %s\n", text(now))
		}
	}
	w.last = now
	if !silent {
		c.showHere()
	}
	c.pend(b)
	if silent {
		return nil
	}
	return c.showDisplays()
}

func (c *Console) removeWatch(w *watch) error {
	if w.end != nil {
		_ = c.session.Remove(w.end.ID)
	}
	return c.session.Remove(w.set.ID)
}

// leftScope ends the watchpoints on variables of a block that ends at a breakpoint
// of the console's own.
func (c *Console) leftScope(at *session.Breakpoint) {
	for _, b := range append([]*breakpoint(nil), c.breakpoints...) {
		if b.watch != nil && at != nil && b.watch.end == at {
			c.leave(b)
		}
	}
}

// leaveScopes ends the watchpoints on local variables: their call has ended.
func (c *Console) leaveScopes() {
	for _, b := range append([]*breakpoint(nil), c.breakpoints...) {
		if b.watch != nil && b.watch.local {
			c.leave(b)
		}
	}
}

func (c *Console) leave(b *breakpoint) {
	c.printf("\nWatchpoint %d deleted because the program has left the block in\nwhich its expression is valid.\n", b.number)
	_ = c.removeWatch(b.watch)
	c.drop(b)
}
