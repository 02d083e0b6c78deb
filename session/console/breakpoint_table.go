// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package console

import (
	"fmt"
	"strings"

	"github.com/clewdev/clew/session/frontend"
)

func (c *Console) infoBreakpoints(args string) error {
	return c.breakpointTable(args, "breakpoints or watchpoints", func(*breakpoint) bool { return true })
}

func (c *Console) infoWatchpoints(args string) error {
	return c.breakpointTable(args, "watchpoints", func(b *breakpoint) bool { return b.watch != nil })
}

func (c *Console) breakpointTable(args, what string, wanted func(*breakpoint) bool) error {
	var list []*breakpoint
	err := c.each(args, func(b *breakpoint) error {
		if wanted(b) {
			list = append(list, b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		c.printf("No %s.\n", what)
		return nil
	}
	c.printf("%-7s %-14s %-4s %-3s %-18s %s\n", "Num", "Type", "Disp", "Enb", "Address", "What")
	for _, b := range list {
		c.breakpointRow(b)
	}
	return nil
}

func (c *Console) breakpointRow(b *breakpoint) {
	kind, disposition, enabled := "breakpoint", "keep", "y"
	switch {
	case b.watch != nil:
		kind = b.watch.short()
	case b.hardware:
		kind = "hw breakpoint"
	}
	if b.temporary {
		disposition = "del"
	}
	if b.disabled {
		enabled = "n"
	}
	row := fmt.Sprintf("%-7d %-14s %-4s %-3s ", b.number, kind, disposition, enabled)
	switch {
	case b.watch != nil:
		c.printf("%s%-18s %s\n", row, "", b.location)
	case len(b.set.Addresses) > 1:
		c.printf("%s%-18s %s\n", row, "<MULTIPLE>", "")
	default:
		c.printf("%s0x%016x %s\n", row, b.set.Addresses[0], c.what(b.set.Addresses[0]))
	}
	if b.condition != "" {
		c.printf("\tstop only if %s\n", b.condition)
	}
	if b.hits > 0 {
		c.printf("\tbreakpoint already hit %s\n", times(b.hits))
	}
	if b.ignore > 0 {
		c.printf("\tignore next %d hits\n", b.ignore)
	}
	for _, line := range b.commands {
		c.printf("        %s\n", line)
	}
	if b.set != nil && len(b.set.Addresses) > 1 {
		for i, a := range b.set.Addresses {
			c.printf("%-7s %-14s %-4s %-3s 0x%016x %s\n", fmt.Sprintf("%d.%d", b.number, i+1), "", "", "y", a, c.what(a))
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

// what is where an address is: "in fib at fib.c:3".
func (c *Console) what(address uint64) string {
	image := c.session.Image(address)
	r := frontend.Row(c.session, address)
	if image != nil && r.Line > 0 {
		name := ""
		if f, ok := image.Function(address); ok {
			name = f.Name
		}
		return fmt.Sprintf("in %s at %s:%d", name, c.source.shown(r.File), r.Line)
	}
	return strings.TrimSpace(c.angle(address))
}
