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
	ID        int    // from 1; breakpoints and watchpoints share the numbers, and no number is used twice
	Location  string // the argument of BreakAt
	Addresses []uint64
	Options   BreakpointOptions
	counter
}

// BreakpointOptions says when a breakpoint or watchpoint stops the session. With the zero value, or
// nil, every hit does.
type BreakpointOptions struct {
	// Condition decides whether a hit counts. It runs while the worker waits, and must not run
	// code. The frame is the innermost one, valid until Condition returns. An error or a panic of
	// Condition stops the session as if the condition were true, and is Stop.Err.
	Condition func(*Frame) (bool, error)

	Skip      int  // number of hits to pass silently
	Max       int  // number of stops after which the breakpoint removes itself; 0 means never
	Temporary bool // same as Max of 1

	// Log makes it a logpoint: Log runs, and the session does not stop. An error of Log stops it.
	Log func(*Frame) error

	// Hardware uses a debug register of the worker instead of a trap instruction. The address may
	// then be outside of the images. The machine has few debug registers (amd64 has four, which
	// watchpoints use too). If a step ends at the address, the breakpoint is hit when the session
	// continues from there.
	Hardware bool
}

// optionsOf returns the options that o stands for.
func optionsOf(o *BreakpointOptions) (options BreakpointOptions) {
	if o != nil {
		options = *o
	}
	if options.Temporary {
		options.Max = 1
	}
	return options
}

// counter counts the hits of a breakpoint or watchpoint. The session's mu guards its other fields.
type counter struct {
	session     *Session
	hits, stops int
	disabled    bool
}

// Hits returns how often it was hit with its condition true.
func (c *counter) Hits() int {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return c.hits
}

// Enabled reports whether the breakpoint or watchpoint is switched on.
func (c *counter) Enabled() bool {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	return !c.disabled
}

// breakpointTable holds a session's breakpoints and watchpoints.
type breakpointTable struct {
	lastID  int
	list    []*Breakpoint
	watches []*Watchpoint
	at      map[uint64][]*Breakpoint // the enabled ones; slices are replaced, never changed
}

// Break sets a breakpoint at an address in an image. It may be called while the session runs. The
// error wraps ErrAddress if a trap cannot replace the instruction.
//
// A string instruction with a repeat prefix hits the breakpoint once. In a step, each repetition hits
// it, because a step executes one repetition. If the session is stopped at the address, the code hits
// the breakpoint only when it comes back there.
//
// The address must be the start of an instruction, such as an address from Locate, Disassemble or a
// stop. Break cannot check that on amd64: it refuses the middle of an instruction only if the bytes
// from there do not form an instruction. Otherwise the trap changes what the instruction does.
func (s *Session) Break(address uint64, o *BreakpointOptions) (*Breakpoint, error) {
	return s.setBreakpoint(fmt.Sprintf("*%#x", address), []uint64{address}, o)
}

// BreakAt sets a breakpoint at all addresses of a location. Locate describes locations.
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
	b := &Breakpoint{Location: location, Addresses: addresses, Options: optionsOf(o), counter: counter{session: s}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == Closed {
		return nil, ErrClosed
	}
	t := &s.breakpoints
	b.ID = t.lastID + 1
	t.list = append(slices.Clip(t.list), b) // armRegisters reads the list
	if err := t.arm(s, b); err != nil {
		t.list = t.list[:len(t.list)-1]
		return nil, err
	}
	t.lastID = b.ID
	return b, nil
}

// arm sets the traps or debug registers of a breakpoint: all, or none and an error.
func (t *breakpointTable) arm(s *Session, b *Breakpoint) error {
	if b.Options.Hardware {
		b.disabled = false
		err := s.armRegisters()
		if err != nil {
			b.disabled = true
			s.armRegisters()
		}
		return err
	}
	if t.at == nil {
		t.at = map[uint64][]*Breakpoint{}
	}
	for n, address := range b.Addresses {
		if err := s.setTrap(address); err != nil {
			t.disarm(s, b, b.Addresses[:n])
			return err
		}
		// The code hits a breakpoint at which it stands when it comes back, unless Pop or
		// SetRegister has put it there.
		if s.state == Stopped && address == s.registers.PC() && (address == s.shown || s.at.Reason == AtEntry) {
			s.considered = address
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

// disarm removes the traps of a breakpoint from some of its addresses.
func (t *breakpointTable) disarm(s *Session, b *Breakpoint, addresses []uint64) error {
	if b.Options.Hardware {
		return nil
	}
	var failed []error
	for _, address := range addresses {
		t.at[address] = without(t.at[address], b)
		if len(t.at[address]) == 0 {
			delete(t.at, address)
		}
		if i := s.Image(address); i != nil && i.hostAt(address) == nil {
			failed = append(failed, i.traps.clear(address))
		}
	}
	return errors.Join(failed...)
}

// without returns a copy of a list without one element.
func without[E comparable](list []E, element E) []E {
	return slices.DeleteFunc(slices.Clone(list), func(other E) bool { return other == element })
}

// clear removes all breakpoints from the images.
func (t *breakpointTable) clear(s *Session) error {
	var failed []error
	for _, b := range t.list {
		failed = append(failed, t.disable(s, b))
	}
	t.list, t.watches = nil, nil
	return errors.Join(failed...)
}

// leave removes the breakpoints that have an address in an image.
func (t *breakpointTable) leave(s *Session, i *Image) error {
	var failed []error
	for _, b := range t.list {
		if slices.ContainsFunc(b.Addresses, i.Contains) {
			failed = append(failed, t.remove(s, b))
		}
	}
	return errors.Join(failed...)
}

func (t *breakpointTable) remove(s *Session, b *Breakpoint) error {
	t.list = without(t.list, b)
	return t.disable(s, b)
}

func (t *breakpointTable) disable(s *Session, b *Breakpoint) error {
	if b.disabled {
		return nil
	}
	b.disabled = true
	err := t.disarm(s, b, b.Addresses)
	if b.Options.Hardware {
		err = errors.Join(err, s.armRegisters())
	}
	return err
}

// Breakpoints returns the breakpoints in the order of their IDs.
func (s *Session) Breakpoints() []*Breakpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.breakpoints.list)
}

// Remove removes a breakpoint or watchpoint. The error wraps ErrNotFound, or ErrRunning for one in
// a debug register while the session runs.
func (s *Session) Remove(id int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, w, err := s.find(id)
	switch {
	case err != nil:
		return err
	case w != nil:
		s.dropWatchpoint(w)
		return s.armRegisters()
	}
	return s.breakpoints.remove(s, b)
}

// find returns the breakpoint or watchpoint with an ID, if it can be changed now.
func (s *Session) find(id int) (b *Breakpoint, w *Watchpoint, err error) {
	if s.state == Closed {
		return nil, nil, ErrClosed
	}
	inRegister := false
	if n := slices.IndexFunc(s.breakpoints.list, func(b *Breakpoint) bool { return b.ID == id }); n >= 0 {
		b = s.breakpoints.list[n]
		inRegister = b.Options.Hardware
	} else if n := slices.IndexFunc(s.breakpoints.watches, func(w *Watchpoint) bool { return w.ID == id }); n >= 0 {
		w, inRegister = s.breakpoints.watches[n], true
	} else {
		return nil, nil, failure(ErrNotFound, "there is no breakpoint %d", id)
	}
	if inRegister && s.state == Running {
		return nil, nil, ErrRunning
	}
	return b, w, nil
}

// Enable switches a breakpoint or watchpoint on or off. The error wraps ErrNotFound, or ErrRunning
// for one in a debug register while the session runs.
func (s *Session) Enable(id int, enabled bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, w, err := s.find(id)
	switch {
	case err != nil:
		return err
	case w != nil:
		return s.enableWatchpoint(w, enabled)
	case !enabled:
		return s.breakpoints.disable(s, b)
	case b.disabled:
		if err := s.breakpoints.arm(s, b); err != nil {
			return err
		}
		b.disabled = false
	}
	return nil
}

// breakpointsAt returns the enabled breakpoints at an address.
func (s *Session) breakpointsAt(address uint64) []*Breakpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.breakpoints.at[address]
}

// atBreakpoint returns a stop if a breakpoint at an address stops the session. Stop.Breakpoint is
// the first one that does; the others count their hits too.
func (s *Session) atBreakpoint(address uint64) *Stop {
	var stop *Stop
	for _, b := range s.breakpointsAt(address) {
		stop, _ = s.meetBreakpoint(stop, b)
	}
	return stop
}

// meetBreakpoint counts a hit of a breakpoint. It returns stop, or a new one if stop is nil and the
// breakpoint stops the session, and whether the hit has removed the breakpoint.
func (s *Session) meetBreakpoint(stop *Stop, b *Breakpoint) (_ *Stop, removed bool) {
	counts, err := s.meet(&b.Options, &b.counter)
	if !counts {
		return stop, false
	}
	if removed = b.isSpent(&b.Options); removed {
		s.mu.Lock()
		s.breakpoints.remove(s, b)
		s.mu.Unlock()
	}
	if stop == nil && (b.Options.Log == nil || err != nil) {
		stop = s.stopped(AtBreakpoint)
		stop.Breakpoint, stop.Err = b, err
	}
	return stop, removed
}

// isSpent reports whether the last of the stops has happened.
func (c *counter) isSpent(o *BreakpointOptions) bool { return o.Max > 0 && c.stops >= o.Max }

// meet counts a hit if the condition is true, and reports whether it counts as a stop. It then
// calls Log.
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
