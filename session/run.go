// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

// run has the controlling thread run code from one state to the next. f
// returns the stop that ends it.
func (s *Session) run(from func(State) error, f func() (*Stop, error)) (*Stop, error) {
	s.mu.Lock()
	if s.state == Closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	if err := from(s.state); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	if s.thread != 0 && thisThread() != s.thread {
		s.mu.Unlock()
		return nil, ErrThread
	}
	before := s.state
	s.state, s.aborted = Running, false
	s.interrupted.Store(false)
	var stop *Stop
	err := errGoexit // unless f returns
	if len(s.breakpoints.watches) > 0 {
		run := f
		f = func() (*Stop, error) {
			s.refreshWatchpoints()
			return run()
		}
	}
	s.running, s.latest = true, &outcome{}
	if s.thread != 0 {
		s.mu.Unlock()
		defer func() {
			if err == errGoexit { // or a panic: both pass through here
				s.lose()
				s.mu.Lock()
				defer s.mu.Unlock()
				s.finish(before, nil, err)
			}
		}()
		stop, err = f()
	} else {
		s.work <- func() { stop, err = f() }
		s.mu.Unlock()
		<-s.ack
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finish(before, stop, err)
}

// outcome is what a run has come to. Others than who runs it may wait for that.
type outcome struct {
	stop *Stop
	err  error
	over bool
}

// finish ends a run. The caller holds mu.
func (s *Session) finish(before State, stop *Stop, err error) (*Stop, error) {
	s.internals = s.dropInternals()
	s.running = false
	stop, err = s.conclude(before, stop, err)
	*s.latest = outcome{stop, err, true}
	s.changed.Broadcast()
	return stop, err
}

// conclude sets the state that a run leads to.
func (s *Session) conclude(before State, stop *Stop, err error) (*Stop, error) {
	if s.state == Closed {
		return nil, ErrClosed
	}
	if err != nil {
		// Nothing ran, or the worker is lost.
		s.state = before
		if s.worker == nil {
			s.state = Exited
		}
		return nil, err
	}
	if s.aborted && stop.Reason.Kind() != KindExit {
		stop = s.leave()
	}
	if s.inline.stop != stop {
		s.inline = inlineState{stop: stop}
	}
	s.state = Stopped
	if stop.Reason.Kind() == KindExit {
		s.state = Exited
	}
	return stop, nil
}

// leave gives up the call that the worker is in.
func (s *Session) leave() *Stop {
	s.registers.Reset()
	s.registers.Enter(returnAddress(s.returns))
	s.in, s.considered = inSlot{}, 0
	return &Stop{Reason: Aborted, ExitCode: -1}
}
