// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"bytes"
	"errors"
	"slices"

	"github.com/clewdev/clew/session/internal/worker"
)

// Access is the kind of access for which a watchpoint stops.
type Access uint8

const (
	Write     Access = 1 + iota // any write, also of an equal value
	ReadWrite                   // any access
	Change                      // a write that changes the value
)

// Watchpoint stops a session when the code accesses memory. It uses a debug register of the worker.
// The session stops after the instruction with the access. The processor does not report writes of
// the kernel during system calls.
type Watchpoint struct {
	ID      int
	Address uint64
	Size    int // bytes: 1, 2, 4 or 8, aligned
	Access  Access
	Options BreakpointOptions
	counter

	old, now []byte
}

// Watch sets a watchpoint. It ignores the option Hardware. The error wraps ErrAddress for a size or
// alignment that the machine does not support, ErrInUse if all debug registers are taken, and
// ErrRunning.
func (s *Session) Watch(address uint64, size int, access Access, o *BreakpointOptions) (*Watchpoint, error) {
	if size != 1 && size != 2 && size != 4 && size != 8 || address%uint64(size) != 0 || access < Write || access > Change {
		return nil, failure(ErrAddress, "cannot watch %d bytes at %#x: a watchpoint has 1, 2, 4 or 8 bytes, at a multiple of their number", size, address)
	}
	w := &Watchpoint{Address: address, Size: size, Access: access, Options: optionsOf(o), counter: counter{session: s}, now: make([]byte, size)}
	if err := s.ReadMemory(w.now, address); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := unlessRunning(s.state); err != nil {
		return nil, err
	}
	w.ID = s.breakpoints.lastID + 1
	s.breakpoints.watches = append(slices.Clone(s.breakpoints.watches), w)
	if err := s.armRegisters(); err != nil {
		s.breakpoints.watches = s.breakpoints.watches[:len(s.breakpoints.watches)-1]
		s.armRegisters()
		return nil, err
	}
	s.breakpoints.lastID = w.ID
	return w, nil
}

// Watchpoints returns the watchpoints in the order of their IDs.
func (s *Session) Watchpoints() []*Watchpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.breakpoints.watches)
}

func (s *Session) dropWatchpoint(w *Watchpoint) {
	s.breakpoints.watches = without(s.breakpoints.watches, w)
	w.disabled = true
}

func (s *Session) enableWatchpoint(w *Watchpoint, enabled bool) error {
	wasDisabled := w.disabled
	w.disabled = !enabled
	if enabled {
		s.ReadMemory(w.now, w.Address)
	}
	if err := s.armRegisters(); err != nil {
		w.disabled = wasDisabled
		s.armRegisters()
		return err
	}
	return nil
}

// Values returns the memory before and after the last access that was seen. The caller owns the slices.
func (w *Watchpoint) Values() (old, now []byte) {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	return bytes.Clone(w.old), bytes.Clone(w.now)
}

// debugRegisters returns the settings of the worker's debug registers, and the breakpoint or
// watchpoint that uses each. The caller holds mu or is the controlling goroutine.
func (s *Session) debugRegisters() (list []worker.Watch, users []any) {
	for _, b := range s.breakpoints.list {
		if !b.Options.Hardware || b.disabled {
			continue
		}
		for _, address := range b.Addresses {
			list = append(list, worker.Watch{Address: address, Size: 1, Access: worker.Execute})
			users = append(users, b)
		}
	}
	for _, w := range s.breakpoints.watches {
		if w.disabled {
			continue
		}
		access := worker.Write
		if w.Access == ReadWrite {
			access = worker.ReadWrite
		}
		list = append(list, worker.Watch{Address: w.Address, Size: w.Size, Access: access})
		users = append(users, w)
	}
	return list, users
}

// armRegisters sets the worker's debug registers as the tables require. After an error the caller
// changes the tables back and calls it again. The caller holds mu.
func (s *Session) armRegisters() (err error) {
	switch s.state {
	case Running:
		return ErrRunning
	case Closed:
		return nil
	}
	if s.worker != nil {
		if e := s.do(func() { err = s.armHardware() }); e != nil {
			return e
		}
	}
	return err
}

// armHardware is armRegisters on the controlling goroutine.
func (s *Session) armHardware() error {
	list, _ := s.debugRegisters()
	if len(list) == 0 && !s.worker.Watches() {
		return nil
	}
	err := s.worker.SetWatches(list)
	if err == worker.ErrWatches {
		return failure(ErrInUse, "%d debug registers are needed and the machine has %d", len(list), worker.MaxWatches)
	}
	if errors.Is(err, worker.ErrGone) {
		return nil
	}
	return err
}

// match appends the users of the debug registers that have matched to s.matched.
func (s *Session) match() happening {
	s.mu.Lock()
	_, users := s.debugRegisters()
	s.mu.Unlock()
	what := atHardware
	for _, n := range s.worker.Matches() {
		if n >= len(users) {
			continue
		}
		if _, ok := users[n].(*Watchpoint); ok {
			what = watched
		}
		if !slices.Contains(s.matched, users[n]) {
			s.matched = append(s.matched, users[n])
		}
	}
	return what
}

// atWatchpoint returns a stop if a watchpoint or hardware breakpoint in s.matched stops the session.
func (s *Session) atWatchpoint() *Stop {
	var stop *Stop
	rearm := false
	matched := s.matched
	s.matched = nil
	for _, user := range matched {
		removed := false
		switch u := user.(type) {
		case *Breakpoint:
			stop, removed = s.meetBreakpoint(stop, u)
		case *Watchpoint:
			stop, removed = s.meetWatchpoint(stop, u)
		}
		rearm = rearm || removed
	}
	if rearm {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.armHardware()
	}
	return stop
}

// meetWatchpoint is meetBreakpoint for a watchpoint.
func (s *Session) meetWatchpoint(stop *Stop, w *Watchpoint) (_ *Stop, removed bool) {
	if !s.changedAt(w) {
		return stop, false
	}
	counts, err := s.meet(&w.Options, &w.counter)
	if !counts {
		return stop, false
	}
	if removed = w.isSpent(&w.Options); removed {
		s.mu.Lock()
		s.dropWatchpoint(w)
		s.mu.Unlock()
	}
	if w.Options.Log != nil && err == nil {
		return stop, removed
	}
	if stop == nil {
		stop = s.stopped(AtWatchpoint)
		stop.Watchpoint, stop.Err = w, err
	}
	if stop.Reason == AtWatchpoint {
		stop.Watchpoints = append(stop.Watchpoints, w)
	}
	return stop, removed
}

// refreshWatchpoints reads the watched memory before the code continues, because others may have
// written it. Only the controlling goroutine may call it.
func (s *Session) refreshWatchpoints() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.breakpoints.watches {
		s.ReadMemory(w.now, w.Address)
	}
}

// changedAt stores the new value of a watchpoint's memory, and reports whether the watchpoint stops
// for this access.
func (s *Session) changedAt(w *Watchpoint) bool {
	value := make([]byte, w.Size)
	if s.ReadMemory(value, w.Address) != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.old, w.now = w.now, value
	return w.Access != Change || !bytes.Equal(w.old, w.now)
}
