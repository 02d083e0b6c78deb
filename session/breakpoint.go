// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"
	"slices"
)

// Breakpoint is a breakpoint or logpoint of a session. Its exported fields do not change.
type Breakpoint struct {
	ID        int    // from 1, also of watchpoints; not used twice
	Location  string // what BreakAt was given
	Addresses []uint64
	Options   BreakpointOptions

	session *Session
	count   counter // under the session's mu
}

// BreakpointOptions says when a breakpoint stops. The zero value, like nil, is
// always.
type BreakpointOptions struct {
	// Condition decides whether a hit counts. It runs while the worker waits, and must not run
	// code. The frame is the innermost one, valid until Condition returns. Its error, or panic,
	// stops the session as if it were true, and is Stop.Err.
	Condition func(*Frame) (bool, error)

	Skip      int  // number of hits to pass silently
	Max       int  // number of stops after which the breakpoint removes itself; 0 means never
	Temporary bool // same as Max of 1

	// Log makes it a logpoint: Log runs instead of stopping. An error stops.
	Log func(*Frame) error

	// Hardware uses a debug register of the worker instead of a trap instruction.
	// It may then be anywhere, also outside of the images. There are few (four on
	// amd64, shared with watchpoints). One that a step ends at is met when the
	// session goes on from there.
	Hardware bool
}

// counter counts what happens at a breakpoint or watchpoint.
type counter struct {
	hits, stops int
	disabled    bool
}

// breakpointTable holds a session's breakpoints and watchpoints.
type breakpointTable struct {
	last    int // ID
	list    []*Breakpoint
	watches []*Watchpoint
	at      map[uint64][]*Breakpoint // those that are switched on; slices are not changed
}

// Break sets a breakpoint at an address in an image. The error wraps ErrAddress where a trap
// cannot replace an instruction. Break may be called while the session runs. A repeated string
// instruction meets the breakpoint once, except in steps, which are single repetitions. A
// session that is stopped at the address meets the breakpoint when it comes back there, not
// before.
//
// The starts of instructions cannot be found in memory. In the middle of an amd64 instruction a
// breakpoint is refused only if the bytes from there on do not form an instruction. Otherwise
// it changes the instruction around it, which then does something else. Addresses from Locate,
// Disassemble and stops are starts of instructions.
func (s *Session) Break(address uint64, o *BreakpointOptions) (*Breakpoint, error) {
	return s.setBreakpoint(fmt.Sprintf("*%#x", address), []uint64{address}, o)
}

// BreakAt sets a breakpoint at all addresses of a location: see Locate.
func (s *Session) BreakAt(location string, o *BreakpointOptions) (*Breakpoint, error) {
	if s.closed.Load() {
		return nil, ErrClosed
	}
	addresses, err := s.Locate(location)
	if err != nil {
		return nil, err
	}
	return s.setBreakpoint(location, addresses, o)
}

func (s *Session) setBreakpoint(location string, addresses []uint64, o *BreakpointOptions) (*Breakpoint, error) {
	b := &Breakpoint{Location: location, Addresses: addresses, session: s}
	if o != nil {
		b.Options = *o
	}
	if b.Options.Temporary {
		b.Options.Max = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == Closed {
		return nil, ErrClosed
	}
	t := &s.breakpoints
	b.ID = t.last + 1
	t.list = append(slices.Clip(t.list), b) // the debug registers are those of the list
	if err := t.arm(s, b); err != nil {
		t.list = t.list[:len(t.list)-1]
		return nil, err
	}
	t.last = b.ID
	return b, nil
}

// arm makes a breakpoint work. With an error nothing of it does.
func (t *breakpointTable) arm(s *Session, b *Breakpoint) error {
	if t.at == nil {
		t.at = map[uint64][]*Breakpoint{}
	}
	if b.Options.Hardware {
		b.count.disabled = false
		err := s.arm()
		if err != nil {
			b.count.disabled = true
			s.arm()
		}
		return err
	}
	for n, address := range b.Addresses {
		if err := s.setTrap(address); err != nil {
			t.disarm(s, b, b.Addresses[:n])
			return err
		}
		if s.state == Stopped && address == s.registers.PC() {
			s.considered = address // it is met when the code comes back
		}
		t.at[address] = append(slices.Clip(slices.Clone(t.at[address])), b)
	}
	return nil
}

func (s *Session) setTrap(address uint64) error {
	i := s.Image(address)
	if i == nil {
		return failure(ErrAddress, "%#x is in no image of the session; a hardware breakpoint can be there", address)
	}
	if i.hostAt(address) != nil {
		return nil // a trap is already there
	}
	return i.traps.set(address)
}

// disarm makes a breakpoint work no more at some of its addresses.
func (t *breakpointTable) disarm(s *Session, b *Breakpoint, addresses []uint64) error {
	if b.Options.Hardware {
		return nil
	}
	var failed []error
	for _, address := range addresses {
		left := slices.DeleteFunc(slices.Clone(t.at[address]), func(other *Breakpoint) bool { return other == b })
		t.at[address] = left
		if len(left) == 0 {
			delete(t.at, address)
		}
		if i := s.Image(address); i != nil && i.hostAt(address) == nil {
			failed = append(failed, i.traps.clear(address))
		}
	}
	return errors.Join(failed...)
}

// clear takes all breakpoints out of the images.
func (t *breakpointTable) clear(s *Session) error {
	var failed []error
	for _, b := range t.list {
		if !b.count.disabled {
			failed = append(failed, t.disarm(s, b, b.Addresses))
		}
	}
	t.list, t.watches = nil, nil
	return errors.Join(failed...)
}

// leave removes the breakpoints that have an address in an image.
func (t *breakpointTable) leave(s *Session, i *Image) error {
	var failed []error
	for _, b := range slices.Clone(t.list) {
		if slices.ContainsFunc(b.Addresses, i.Contains) {
			failed = append(failed, t.remove(s, b))
		}
	}
	return errors.Join(failed...)
}

func (t *breakpointTable) remove(s *Session, b *Breakpoint) error {
	n := slices.Index(t.list, b)
	if n < 0 {
		return nil
	}
	t.list = slices.Delete(slices.Clone(t.list), n, n+1)
	if b.count.disabled {
		return nil
	}
	b.count.disabled = true
	err := t.disarm(s, b, b.Addresses)
	if b.Options.Hardware {
		err = errors.Join(err, s.arm())
	}
	return err
}

// Breakpoints returns the breakpoints in the order of their IDs.
func (s *Session) Breakpoints() []*Breakpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.breakpoints.list)
}

// Remove removes a breakpoint or watchpoint. The error wraps ErrNotFound, or
// ErrRunning for one in a debug register while the session runs.
func (s *Session) Remove(id int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == Closed {
		return ErrClosed
	}
	if b := s.breakpoint(id); b != nil {
		if b.Options.Hardware && s.state == Running {
			return ErrRunning
		}
		return s.breakpoints.remove(s, b)
	}
	if w := s.watchpoint(id); w != nil {
		return s.removeWatchpoint(w)
	}
	return failure(ErrNotFound, "there is no breakpoint %d", id)
}

func (s *Session) breakpoint(id int) *Breakpoint {
	for _, b := range s.breakpoints.list {
		if b.ID == id {
			return b
		}
	}
	return nil
}

// Enable switches a breakpoint or watchpoint on or off. The error wraps
// ErrNotFound, or ErrRunning for one in a debug register while the session runs.
func (s *Session) Enable(id int, enabled bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.breakpoint(id)
	switch {
	case s.state == Closed:
		return ErrClosed
	case b == nil:
		if w := s.watchpoint(id); w != nil {
			return s.enableWatchpoint(w, enabled)
		}
		return failure(ErrNotFound, "there is no breakpoint %d", id)
	case b.count.disabled != enabled:
		return nil
	case b.Options.Hardware && s.state == Running:
		return ErrRunning
	case enabled:
		if err := s.breakpoints.arm(s, b); err != nil {
			return err
		}
		b.count.disabled = false
		return nil
	}
	b.count.disabled = true
	err := s.breakpoints.disarm(s, b, b.Addresses)
	if b.Options.Hardware {
		err = errors.Join(err, s.arm())
	}
	return err
}

// Hits returns how often the breakpoint was met with its condition true.
func (b *Breakpoint) Hits() int {
	b.session.mu.Lock()
	defer b.session.mu.Unlock()
	return b.count.hits
}

// Enabled reports whether the breakpoint is switched on.
func (b *Breakpoint) Enabled() bool {
	b.session.mu.Lock()
	defer b.session.mu.Unlock()
	return !b.count.disabled
}

// breakpointsAt returns the breakpoints that are switched on at an address.
func (s *Session) breakpointsAt(address uint64) []*Breakpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.breakpoints.at[address]
}

// atBreakpoint asks all breakpoints at an address whether to stop; the first that
// wants to is the stop's. The others count their hits too.
func (s *Session) atBreakpoint(address uint64) *Stop {
	var stop *Stop
	for _, b := range s.breakpointsAt(address) {
		wanted, err := s.meet(&b.Options, &b.count)
		if !wanted {
			continue
		}
		if b.Options.Max > 0 && b.count.stops >= b.Options.Max {
			s.mu.Lock()
			s.breakpoints.remove(s, b)
			s.mu.Unlock()
		}
		if stop == nil && (b.Options.Log == nil || err != nil) {
			stop = s.stopped(AtBreakpoint)
			stop.Breakpoint, stop.Err = b, err
		}
	}
	return stop
}

// meet counts a hit where the condition holds, and reports whether it counts as a
// stop. Logpoints log then.
func (s *Session) meet(o *BreakpointOptions, c *counter) (stop bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			stop, err = true, fmt.Errorf("panic: %v", p)
		}
	}()
	if o.Condition != nil {
		ok, err := o.Condition(s.innermost())
		if err != nil {
			return true, err
		}
		if !ok {
			return false, nil
		}
	}
	s.mu.Lock()
	c.hits++
	stop = c.hits > o.Skip
	if stop {
		c.stops++
	}
	s.mu.Unlock()
	if stop && o.Log != nil {
		err = o.Log(s.innermost())
	}
	return stop, err
}
