// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/clewdev/clew/jit/gdb"
	"github.com/clewdev/clew/session"
)

// breakpointKind is the digit of a Z packet.
type breakpointKind uint8

const (
	kindSoftware breakpointKind = iota
	kindHardware
	kindWrite
	kindRead
	kindAccess
)

// stopReason returns the name of a watchpoint's kind in stop replies.
func (k breakpointKind) stopReason() string {
	switch k {
	case kindRead:
		return "rwatch"
	case kindAccess:
		return "awatch"
	}
	return "watch"
}

// breakpoint is a breakpoint or watchpoint of the client.
type breakpoint struct {
	kind    breakpointKind
	address uint64
	length  uint64
	ids     []int // in the session; a watchpoint can need several

	// conditions are agent expressions. The breakpoint stops if one is true, or if there are none.
	conditions [][]byte

	// passive: the session has no breakpoint there, because its code never reaches the address, or
	// faults there.
	passive bool
}

// maxBreakpoints limits the breakpoints of a client.
const maxBreakpoints = 1 << 16

var errKind = errors.New("unknown kind of breakpoint")

// insert sets a breakpoint, or changes the conditions of an existing one.
func (c *client) insert(kind breakpointKind, address, length uint64, conditions [][]byte) error {
	if b := c.find(kind, address, length); b != nil {
		b.conditions = conditions
		return nil
	}
	if len(c.breakpoints) >= maxBreakpoints {
		return fmt.Errorf("there are %d breakpoints", len(c.breakpoints))
	}
	b := &breakpoint{kind: kind, address: address, length: length, conditions: conditions}
	if err := c.set(b); err != nil {
		c.unset(b)
		return err
	}
	c.breakpoints = append(c.breakpoints, b)
	return nil
}

func (c *client) set(b *breakpoint) error {
	p := c.server.program
	options := &session.BreakpointOptions{
		Condition: func(f *session.Frame) (bool, error) { return c.condition(b, f) },
		Hardware:  b.kind == kindHardware,
	}
	switch b.kind {
	case kindSoftware, kindHardware:
		if p.Image(b.address) == nil && c.isPassive(b.address) {
			b.passive = true
			return nil
		}
		x, err := p.Break(b.address, options)
		if err != nil && !options.Hardware {
			// The address is outside the images, or a trap does not fit.
			options.Hardware = true
			x, err = p.Break(b.address, options)
		}
		if err != nil && b.address == c.server.returnAddress() {
			// The client sees the return of a call without a breakpoint.
			b.passive = true
			return nil
		}
		if err != nil {
			return err
		}
		b.ids = append(b.ids, x.ID)
		return nil
	case kindWrite, kindAccess:
		access := session.Write
		if b.kind == kindAccess {
			access = session.ReadWrite
		}
		if b.length == 0 || b.length > maxWatched || b.address+b.length < b.address {
			return fmt.Errorf("%w: a watchpoint of %d bytes", session.ErrAddress, b.length)
		}
		for at, end := b.address, b.address+b.length; at < end; {
			size := uint64(8)
			for size > 1 && (at%size != 0 || at+size > end) {
				size /= 2
			}
			w, err := p.Watch(at, int(size), access, nil)
			if err != nil {
				return err
			}
			b.ids = append(b.ids, w.ID)
			at += size
		}
		return nil
	}
	return errKind
}

// maxWatched is the maximum size of a watchpoint in bytes. The debug registers of any machine watch
// less.
const maxWatched = 16 * 8

// first returns the client's first breakpoint for which match returns true, or nil.
func (c *client) first(match func(*breakpoint) bool) *breakpoint {
	if n := slices.IndexFunc(c.breakpoints, match); n >= 0 {
		return c.breakpoints[n]
	}
	return nil
}

func (c *client) find(kind breakpointKind, address, length uint64) *breakpoint {
	return c.first(func(b *breakpoint) bool {
		return b.kind == kind && b.address == address && (kind <= kindHardware || b.length == length)
	})
}

// remove removes a breakpoint. A missing one is not an error: it may have been removed with its image.
func (c *client) remove(kind breakpointKind, address, length uint64) error {
	b := c.find(kind, address, length)
	if b == nil {
		return nil
	}
	c.breakpoints = slices.DeleteFunc(c.breakpoints, func(other *breakpoint) bool { return other == b })
	return c.unset(b)
}

func (c *client) unset(b *breakpoint) error {
	var errs []error
	for _, id := range b.ids {
		// It may have been removed with its image.
		if err := c.server.program.Remove(id); !errors.Is(err, session.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	b.ids = nil
	return errors.Join(errs...)
}

// removeAll removes all breakpoints of the client. The session must not run.
func (c *client) removeAll() {
	for _, b := range c.breakpoints {
		_ = c.unset(b)
	}
	c.breakpoints = nil
}

// breakpointAt returns the client's breakpoint at an address, or nil.
func (c *client) breakpointAt(pc uint64) *breakpoint {
	return c.first(func(b *breakpoint) bool { return b.kind <= kindHardware && b.address == pc })
}

// breakpointOf returns the client's breakpoint or watchpoint with an ID of the session, or nil.
func (c *client) breakpointOf(id int) *breakpoint {
	return c.first(func(b *breakpoint) bool { return slices.Contains(b.ids, id) })
}

// watchpointOf returns the client's watchpoint for one of the session, or nil.
func (c *client) watchpointOf(w *session.Watchpoint) *breakpoint {
	if w == nil {
		return nil
	}
	return c.breakpointOf(w.ID)
}

// caused reports whether the client has caused a stop, so that the program does not want it.
func (c *client) caused(st *session.Stop) bool {
	switch st.Reason {
	case session.AtBreakpoint:
		return st.Breakpoint != nil && c.breakpointOf(st.Breakpoint.ID) != nil
	case session.AtWatchpoint:
		return c.watchpointOf(st.Watchpoint) != nil
	case session.Signalled, session.Trapped, session.HostFailed, session.Returned, session.Aborted, session.ExitedProcess:
		return false
	}
	return true
}

// isPassive reports whether a client's breakpoint at an address needs none in the session. This holds
// where debuggers learn of new code or of libraries, because the session's code does not go there, and
// in memory that is not executable, because the code faults there.
func (c *client) isPassive(address uint64) bool {
	if _, register := gdb.Own(); address == register {
		return true
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return false
	}
	m, ok := findMapping(maps, address)
	if !ok || !strings.Contains(m.permissions, "x") {
		return true
	}
	// At the entry point lldb waits for the start of the program, and for the return of functions that
	// it calls: see guard.
	if c.lldb && address == programEntry() {
		return true
	}
	// AT_BASE is the address of the dynamic linker (getauxval(3)).
	base, ok := auxiliary(atBase)
	if !ok || base == 0 {
		return false
	}
	linker, ok := findMapping(maps, base)
	return ok && linker.path != "" && linker.path == m.path
}

// mapping is a line of /proc/self/maps (proc_pid_maps(5)).
type mapping struct {
	start, end  uint64
	permissions string
	path        string
}

// findMapping returns the mapping at an address, or the first one after it and false.
func findMapping(maps []byte, address uint64) (mapping, bool) {
	for line := range bytes.Lines(maps) {
		fields := strings.SplitN(strings.TrimSpace(string(line)), " ", 6)
		if len(fields) < 5 {
			continue
		}
		first, last, _ := strings.Cut(fields[0], "-")
		start, err := strconv.ParseUint(first, 16, 64)
		end, err2 := strconv.ParseUint(last, 16, 64)
		if err != nil || err2 != nil || address >= end {
			continue
		}
		m := mapping{start: start, end: end, permissions: fields[1]}
		if len(fields) == 6 {
			m.path = strings.TrimSpace(fields[5])
		}
		return m, address >= start
	}
	return mapping{}, false
}

// condition evaluates the conditions of a breakpoint.
func (c *client) condition(b *breakpoint, f *session.Frame) (bool, error) {
	if len(b.conditions) == 0 {
		return true, nil
	}
	for _, code := range b.conditions {
		value, err := agent(code, c.server.registers.machine.Order, conditionFrame{f, c.server.registers})
		if err != nil {
			return true, err // the client decides
		}
		if value != 0 {
			return true, nil
		}
	}
	return false, nil
}

// conditionFrame is the innermost frame as agent expressions see it.
type conditionFrame struct {
	*session.Frame
	registers *registers
}

func (f conditionFrame) register(number int) (uint64, error) {
	r := f.registers
	if number == r.pc {
		return f.PC, nil
	}
	if number >= len(r.list) || r.list[number].column < 0 {
		return 0, fmt.Errorf("%w: number %d", errRegister, number)
	}
	value, ok := f.Frame.Register(uint64(r.list[number].column))
	if !ok {
		return 0, fmt.Errorf("%w: %s", errRegister, r.list[number].name)
	}
	return value, nil
}
