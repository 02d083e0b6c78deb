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

// Access is what a watchpoint watches for.
type Access uint8

const (
	Write     Access = 1 + iota // any write, also of the value that is there
	ReadWrite                   // any access
	Change                      // a write that changes the value
)

// Watchpoint stops a session when memory is accessed, through a debug register of the worker.
// The stop is after the instruction with the access. Writes of the kernel during system calls
// are not seen.
type Watchpoint struct {
	ID      int
	Address uint64
	Size    int // bytes: 1, 2, 4 or 8, aligned
	Access  Access
	Options BreakpointOptions

	session  *Session
	count    counter // under the session's mu
	old, now []byte
}

// Watch sets a watchpoint. It ignores the option Hardware. The error wraps ErrAddress for a
// size or alignment that the machine does not have, ErrInUse where all debug registers are
// taken, and ErrRunning.
func (s *Session) Watch(address uint64, size int, access Access, o *BreakpointOptions) (*Watchpoint, error) {
	w := &Watchpoint{Address: address, Size: size, Access: access, session: s, now: make([]byte, size&15)}
	if o != nil {
		w.Options = *o
	}
	if w.Options.Temporary {
		w.Options.Max = 1
	}
	if size != 1 && size != 2 && size != 4 && size != 8 || address%uint64(size) != 0 || access < Write || access > Change {
		return nil, failure(ErrAddress, "%d bytes at %#x cannot be watched: 1, 2, 4 or 8 bytes can be, at a multiple of their number", size, address)
	}
	if err := s.ReadMemory(w.now, address); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case Closed:
		return nil, ErrClosed
	case Running:
		return nil, ErrRunning
	}
	w.ID = s.breakpoints.last + 1
	s.breakpoints.watches = append(slices.Clone(s.breakpoints.watches), w)
	if err := s.arm(); err != nil {
		s.breakpoints.watches = s.breakpoints.watches[:len(s.breakpoints.watches)-1]
		s.arm()
		return nil, err
	}
	s.breakpoints.last = w.ID
	return w, nil
}

// Watchpoints returns the watchpoints in the order of their IDs.
func (s *Session) Watchpoints() []*Watchpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.breakpoints.watches)
}

func (s *Session) watchpoint(id int) *Watchpoint {
	for _, w := range s.breakpoints.watches {
		if w.ID == id {
			return w
		}
	}
	return nil
}

func (s *Session) removeWatchpoint(w *Watchpoint) error {
	if s.state == Running {
		return ErrRunning
	}
	s.dropWatchpoint(w)
	return s.arm()
}

func (s *Session) dropWatchpoint(w *Watchpoint) {
	s.breakpoints.watches = slices.DeleteFunc(slices.Clone(s.breakpoints.watches), func(other *Watchpoint) bool { return other == w })
	w.count.disabled = true
}

func (s *Session) enableWatchpoint(w *Watchpoint, enabled bool) error {
	if s.state == Running {
		return ErrRunning
	}
	before := w.count.disabled
	w.count.disabled = !enabled
	if enabled {
		s.ReadMemory(w.now, w.Address)
	}
	if err := s.arm(); err != nil {
		w.count.disabled = before
		s.arm()
		return err
	}
	return nil
}

// Hits returns how often the watchpoint was met with its condition true.
func (w *Watchpoint) Hits() int {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	return w.count.hits
}

// Enabled reports whether the watchpoint is switched on.
func (w *Watchpoint) Enabled() bool {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	return !w.count.disabled
}

// Values returns the memory as it was before and after the last access that was
// seen. The slices are the caller's.
func (w *Watchpoint) Values() (old, now []byte) {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	return bytes.Clone(w.old), bytes.Clone(w.now)
}

// debugRegisters returns what the worker's debug registers have to watch, and by
// whom each is used. The caller holds mu or is the controlling goroutine.
func (s *Session) debugRegisters() (list []worker.Watch, users []any) {
	for _, b := range s.breakpoints.list {
		if !b.Options.Hardware || b.count.disabled {
			continue
		}
		for _, address := range b.Addresses {
			list = append(list, worker.Watch{Address: address, Size: 1, Access: worker.Execute})
			users = append(users, b)
		}
	}
	for _, w := range s.breakpoints.watches {
		if w.count.disabled {
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

// arm makes the worker's debug registers those that the tables ask for; with an
// error, the caller changes the tables back and calls it again. The caller holds
// mu.
func (s *Session) arm() (err error) {
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

// armHardware is arm on the controlling goroutine.
func (s *Session) armHardware() error {
	list, _ := s.debugRegisters()
	if len(list) == 0 && !s.worker.Watches() {
		return nil
	}
	err := s.worker.SetWatches(list)
	if err == worker.ErrWatches {
		return failure(ErrInUse, "%d debug registers are asked for and the machine has %d", len(list), worker.MaxWatches)
	}
	if errors.Is(err, worker.ErrGone) {
		return nil
	}
	return err
}

// match notes what the worker's debug registers have matched, for atWatchpoint.
func (s *Session) match() happening {
	s.mu.Lock()
	_, users := s.debugRegisters()
	s.mu.Unlock()
	what := atHardware
	for _, n := range s.worker.Met() {
		if n >= len(users) {
			continue
		}
		if _, ok := users[n].(*Watchpoint); ok {
			what = watched
		}
		if !slices.Contains(s.met, users[n]) {
			s.met = append(s.met, users[n])
		}
	}
	return what
}

// atWatchpoint asks all watchpoints, and hardware breakpoints, that the worker has
// met whether to stop.
func (s *Session) atWatchpoint() *Stop {
	var stop *Stop
	rearm := false
	met := s.met
	s.met = nil
	for _, user := range met {
		switch u := user.(type) {
		case *Breakpoint:
			wanted, err := s.meet(&u.Options, &u.count)
			if !wanted {
				continue
			}
			if u.Options.Max > 0 && u.count.stops >= u.Options.Max {
				s.mu.Lock()
				u.count.disabled = true
				s.breakpoints.disarm(s, u, u.Addresses)
				s.breakpoints.list = slices.DeleteFunc(slices.Clone(s.breakpoints.list), func(other *Breakpoint) bool { return other == u })
				s.mu.Unlock()
				rearm = true
			}
			if stop == nil && (u.Options.Log == nil || err != nil) {
				stop = s.stopped(AtBreakpoint)
				stop.Breakpoint, stop.Err = u, err
			}
		case *Watchpoint:
			if !s.changedAt(u) {
				continue
			}
			wanted, err := s.meet(&u.Options, &u.count)
			if !wanted {
				continue
			}
			if u.Options.Max > 0 && u.count.stops >= u.Options.Max {
				s.mu.Lock()
				s.dropWatchpoint(u)
				s.mu.Unlock()
				rearm = true
			}
			if u.Options.Log != nil && err == nil {
				continue
			}
			if stop == nil {
				stop = s.stopped(AtWatchpoint)
				stop.Watchpoint, stop.Err = u, err
			}
			if stop.Reason == AtWatchpoint {
				stop.Watchpoints = append(stop.Watchpoints, u)
			}
		}
	}
	if rearm {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.armHardware()
	}
	return stop
}

// refreshWatchpoints reads what is watched before the code goes on: others may
// have written it. The controlling goroutine calls it.
func (s *Session) refreshWatchpoints() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.breakpoints.watches {
		s.ReadMemory(w.now, w.Address)
	}
}

// changedAt notes a watchpoint's new value, and reports whether the access is one
// that it watches for.
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
