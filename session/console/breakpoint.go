// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/session/frontend"
	"github.com/clewdev/clew/value/expression"
)

// breakpoint is a breakpoint or watchpoint as the console numbers them. The session's
// part of it never changes; this one holds what users change.
type breakpoint struct {
	number    int
	location  string
	temporary bool
	hardware  bool
	disabled  bool
	condition string
	compiled  map[uint64]*expression.Expression // the condition, by address
	ignore    int
	hits      int
	commands  []string

	set   *session.Breakpoint // nil of watchpoints
	watch *watch              // nil of breakpoints
}

// kind returns gdb's word for it.
func (b *breakpoint) kind() string {
	switch {
	case b.watch != nil:
		return b.watch.kind()
	case b.hardware && b.temporary:
		return "Temporary hardware assisted breakpoint"
	case b.hardware:
		return "Hardware assisted breakpoint"
	case b.temporary:
		return "Temporary breakpoint"
	}
	return "Breakpoint"
}

// hit reports whether a breakpoint stops at a frame that has reached it.
func (c *Console) hit(b *breakpoint, f *session.Frame) (bool, error) {
	if b.condition != "" {
		address := f.PC
		e := b.compiled[address]
		if e == nil {
			var err error
			if e, err = c.truth(b.condition, address); err != nil {
				return true, fmt.Errorf("error in testing the condition of breakpoint %d: %w", b.number, err)
			}
			b.compiled[address] = e
		}
		yes, err := e.True(f)
		switch {
		case err != nil:
			return true, fmt.Errorf("error in testing the condition of breakpoint %d: %w", b.number, err)
		case !yes:
			return false, nil
		}
	}
	b.hits++
	if b.ignore > 0 {
		b.ignore--
		return false, nil
	}
	return true, nil
}

// breakpointOf returns the breakpoint that a stop is at, or nil.
func (c *Console) breakpointOf(stop *session.Stop) *breakpoint {
	if stop == nil {
		return nil
	}
	for _, b := range c.breakpoints {
		switch {
		case b.set != nil && b.set == stop.Breakpoint, b.watch != nil && stop.Watchpoint != nil && b.watch.set == stop.Watchpoint:
			return b
		}
	}
	return nil
}

func (c *Console) tellBreakpoint(stop *session.Stop) error {
	b := c.breakpointOf(stop)
	if b == nil { // where a watched variable, advance or until ends
		c.leftScope(stop.Breakpoint)
		c.showHere()
		return c.showDisplays()
	}
	silent := len(b.commands) > 0 && b.commands[0] == "silent"
	if !silent {
		if stop.Err != nil {
			c.printf("%v\n", stop.Err)
		}
		kind := b.kind()
		if !b.temporary {
			kind = "Breakpoint"
		}
		c.printf("\n%s %s, ", kind, b.at(stop.PC))
		c.showHere()
	}
	c.pend(b)
	if b.temporary {
		c.drop(b)
	}
	if silent {
		return nil
	}
	return c.showDisplays()
}

// pend has the commands of a breakpoint executed after this one.
func (c *Console) pend(b *breakpoint) {
	commands := b.commands
	if len(commands) > 0 && commands[0] == "silent" {
		commands = commands[1:]
	}
	c.pending = append([]string(nil), commands...)
}

// at returns the number of a breakpoint, and that of the place if it has several:
// "1.5".
func (b *breakpoint) at(pc uint64) string {
	for i, a := range b.set.Addresses {
		if a == pc && len(b.set.Addresses) > 1 {
			return fmt.Sprintf("%d.%d", b.number, i+1)
		}
	}
	return strconv.Itoa(b.number)
}

// drop forgets a breakpoint.
func (c *Console) drop(b *breakpoint) {
	for i, other := range c.breakpoints {
		if other == b {
			c.breakpoints = append(c.breakpoints[:i:i], c.breakpoints[i+1:]...)
			return
		}
	}
}

func (c *Console) breakCommand(args string) error { return c.setBreakpoint(args, false, false) }
func (c *Console) tbreak(args string) error       { return c.setBreakpoint(args, true, false) }
func (c *Console) hbreak(args string) error       { return c.setBreakpoint(args, false, true) }

func (c *Console) setBreakpoint(args string, temporary, hardware bool) error {
	location, condition := cutCondition(args)
	if location == "" {
		f, err := c.selectedFrame()
		if err != nil {
			return errors.New("break where? Name a function, a line (fib.c:3), or *ADDRESS")
		}
		location = fmt.Sprintf("*%#x", f.Physical.PC)
	}
	addresses, named, err := c.resolve(location)
	if err != nil {
		return err
	}
	b := &breakpoint{number: c.lastNumber + 1, location: location, temporary: temporary, hardware: hardware}
	if err := c.setCondition(b, condition, addresses); err != nil {
		return err
	}
	options := session.BreakpointOptions{
		Temporary: temporary, Hardware: hardware,
		Condition: func(f *session.Frame) (bool, error) { return c.hit(b, f) },
	}
	// The session knows by the name which of the calls that are inlined at an
	// address is meant.
	if named != "" {
		b.set, err = c.session.BreakAt(named, &options)
	} else {
		b.set, err = c.session.Break(addresses[0], &options)
	}
	if err != nil {
		return err
	}
	c.lastNumber++
	c.breakpoints = append(c.breakpoints, b)
	c.printf("%s %d at %s\n", b.kind(), b.number, c.place(b))
	return nil
}

// place returns where a breakpoint was set: "0x401136: file fib.c, line 3."
func (c *Console) place(b *breakpoint) string {
	addresses := b.set.Addresses
	if len(addresses) > 1 {
		return fmt.Sprintf("%#x: %s. (%d locations)", addresses[0], b.location, len(addresses))
	}
	r := frontend.Row(c.session, addresses[0])
	if r.Line == 0 {
		return fmt.Sprintf("%#x", addresses[0])
	}
	return fmt.Sprintf("%#x: file %s, line %d.", addresses[0], c.source.shown(r.File), r.Line)
}

// setCondition sets a condition, which must compile at all addresses.
func (c *Console) setCondition(b *breakpoint, text string, addresses []uint64) error {
	compiled := make(map[uint64]*expression.Expression)
	if text != "" {
		for _, a := range addresses {
			e, err := c.truth(text, a)
			if err != nil {
				return err
			}
			compiled[a] = e
		}
	}
	b.condition, b.compiled = text, compiled
	return nil
}

func (c *Console) breakpointNumbered(text string) (*breakpoint, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "$bpnum"))
	if text == "$bpnum" {
		n, err = c.lastNumber, nil
	}
	if err != nil {
		return nil, fmt.Errorf("bad breakpoint number %q", text)
	}
	for _, b := range c.breakpoints {
		if b.number == n {
			return b, nil
		}
	}
	return nil, fmt.Errorf("no breakpoint number %d", n)
}

func (c *Console) conditionCommand(args string) error {
	number, text, _ := strings.Cut(args, " ")
	b, err := c.breakpointNumbered(number)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	var addresses []uint64
	if b.set != nil {
		addresses = b.set.Addresses
	}
	if err := c.setCondition(b, text, addresses); err != nil {
		return err
	}
	if text == "" {
		c.printf("Breakpoint %d now unconditional.\n", b.number)
	}
	return nil
}

func (c *Console) ignoreCommand(args string) error {
	number, text, _ := strings.Cut(args, " ")
	b, err := c.breakpointNumbered(number)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return errors.New("ignore how often? \"ignore 1 5\"")
	}
	b.ignore = max(n, 0)
	c.printf("%s\n", ignored(b))
	return nil
}

func ignored(b *breakpoint) string {
	switch b.ignore {
	case 0:
		return fmt.Sprintf("Will stop next time breakpoint %d is reached.", b.number)
	case 1:
		return fmt.Sprintf("Will ignore next crossing of breakpoint %d.", b.number)
	}
	return fmt.Sprintf("Will ignore next %d crossings of breakpoint %d.", b.ignore, b.number)
}

// each does something with the breakpoints that args name, or all.
func (c *Console) each(args string, do func(b *breakpoint) error) error {
	args = strings.TrimSpace(strings.TrimPrefix(args, "breakpoints"))
	list := append([]*breakpoint(nil), c.breakpoints...)
	if args != "" {
		numbers, err := numbersOf(args)
		if err != nil {
			return err
		}
		list = list[:0]
		for _, n := range numbers {
			b, err := c.breakpointNumbered(strconv.Itoa(n))
			if err != nil {
				return err
			}
			list = append(list, b)
		}
	}
	for _, b := range list {
		if err := do(b); err != nil {
			return err
		}
	}
	return nil
}

func (c *Console) deleteCommand(args string) error {
	if rest, ok := strings.CutPrefix(args, "display"); ok {
		return c.undisplay(strings.TrimSpace(rest))
	}
	return c.each(args, c.remove)
}

func (c *Console) remove(b *breakpoint) error {
	var err error
	if b.watch != nil {
		err = c.removeWatch(b.watch)
	} else {
		err = c.session.Remove(b.set.ID)
	}
	c.drop(b)
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return err
}

func (c *Console) enableCommand(args string) error  { return c.enable(args, true) }
func (c *Console) disableCommand(args string) error { return c.enable(args, false) }

func (c *Console) enable(args string, on bool) error {
	if rest, ok := strings.CutPrefix(args, "display"); ok {
		numbers, err := numbersOf(rest)
		if err != nil {
			return err
		}
		for _, d := range c.displays {
			for _, n := range numbers {
				if d.number == n {
					d.disabled = !on
				}
			}
			if len(numbers) == 0 {
				d.disabled = !on
			}
		}
		return nil
	}
	return c.each(args, func(b *breakpoint) error {
		b.disabled = !on
		if b.watch != nil {
			return c.session.Enable(b.watch.set.ID, on)
		}
		return c.session.Enable(b.set.ID, on)
	})
}

func (c *Console) commandsCommand(args string) error {
	b := (*breakpoint)(nil)
	var err error
	if args != "" {
		b, err = c.breakpointNumbered(args)
	} else if n := len(c.breakpoints); n > 0 {
		b = c.breakpoints[n-1]
	} else {
		err = errors.New("no breakpoints specified")
	}
	if err != nil {
		return err
	}
	c.block = &block{breakpoint: b}
	return nil
}
