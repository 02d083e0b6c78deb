// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bytes"
	"errors"
	"fmt"
	"os"
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

// stopReason is what a stop reply calls a watchpoint of the kind.
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
	ids     []int // of the session's; a watchpoint can need several

	// conditions are agent expressions; one that is true is enough, and none is.
	conditions [][]byte

	// passive is one where the session's code never comes, or where it faults by
	// itself: nothing is set there.
	passive bool
}

// maxBreakpoints bounds what a client sets.
const maxBreakpoints = 1 << 16

var errKind = errors.New("not a kind of breakpoint that there is")

// insert sets a breakpoint, or gives one that is set new conditions.
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
			// Outside of the images, or where a trap does not fit.
			options.Hardware = true
			x, err = p.Break(b.address, options)
		}
		if err != nil && b.address == c.server.returnAddress() {
			// A call's return can be shown without one.
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

// maxWatched is how many bytes a watchpoint can have: more than all debug
// registers of any machine watch.
const maxWatched = 16 * 8

func (c *client) find(kind breakpointKind, address, length uint64) *breakpoint {
	for _, b := range c.breakpoints {
		if b.kind == kind && b.address == address && (kind <= kindHardware || b.length == length) {
			return b
		}
	}
	return nil
}

// remove takes a breakpoint away. One that is not there is no error: clients
// remove what is gone with the code.
func (c *client) remove(kind breakpointKind, address, length uint64) error {
	b := c.find(kind, address, length)
	if b == nil {
		return nil
	}
	for i := range c.breakpoints {
		if c.breakpoints[i] == b {
			c.breakpoints = append(c.breakpoints[:i], c.breakpoints[i+1:]...)
			break
		}
	}
	return c.unset(b)
}

func (c *client) unset(b *breakpoint) error {
	var errs []error
	for _, id := range b.ids {
		// It may have gone with its image.
		if err := c.server.program.Remove(id); err != nil && !errors.Is(err, session.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	b.ids = nil
	return errors.Join(errs...)
}

// removeAll takes all breakpoints of the client away. The session does not run.
func (c *client) removeAll() {
	for _, b := range c.breakpoints {
		_ = c.unset(b)
	}
	c.breakpoints = nil
}

// breakpointAt returns the client's breakpoint at an address, or nil.
func (c *client) breakpointAt(pc uint64) *breakpoint {
	for _, b := range c.breakpoints {
		if b.kind <= kindHardware && b.address == pc {
			return b
		}
	}
	return nil
}

// watchpointOf returns the client's watchpoint that one of the session's is of.
func (c *client) watchpointOf(w *session.Watchpoint) *breakpoint {
	if w == nil {
		return nil
	}
	for _, b := range c.breakpoints {
		if b.kind < kindWrite {
			continue
		}
		for _, id := range b.ids {
			if id == w.ID {
				return b
			}
		}
	}
	return nil
}

// caused reports whether a stop is the client's doing, so that nobody else wants
// to know of it.
func (c *client) caused(st *session.Stop) bool {
	switch st.Reason {
	case session.AtBreakpoint:
		for _, b := range c.breakpoints {
			for _, id := range b.ids {
				if st.Breakpoint != nil && id == st.Breakpoint.ID {
					return true
				}
			}
		}
		return false
	case session.AtWatchpoint:
		return c.watchpointOf(st.Watchpoint) != nil
	case session.Signalled, session.Trapped, session.HostFailed, session.Returned, session.Aborted, session.ExitedProcess:
		return false
	}
	return true
}

// isPassive reports whether a client may have a breakpoint at an address without
// one being set there: where debuggers want to learn of new code or of libraries,
// which the session's code does not do; and where nothing can run, so that to get
// there is a fault.
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
	// lldb waits at the program's entry for a program that starts, and for functions
	// that it calls: see guard.
	if c.lldb && address == programEntry() {
		return true
	}
	// The dynamic linker is where AT_BASE says (getauxval(3)).
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

// findMapping returns the mapping that holds an address, or else, with false, the
// first one behind it.
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
			return true, err // the client looks for itself
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
