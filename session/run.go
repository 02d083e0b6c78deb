// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"runtime"
	"time"
)

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
		s.await()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finish(before, stop, err)
}

// Who sleeps until the other has an answer has to be woken, which takes longer
// than a short call where the processor that then has to be woken too is a virtual
// machine's. So caller and controlling thread look for each other a while first,
// and leave their processors to whom they wait for meanwhile.
const (
	answerSoon = 100 * time.Microsecond // a few times what a short call takes
	workSoon   = 50 * time.Microsecond
)

// await waits for the end of what the controlling thread was given.
func (s *Session) await() {
	for begin := time.Now(); len(s.ack) == 0 && time.Since(begin) < answerSoon; {
		runtime.Gosched()
		yieldThread()
	}
	<-s.ack
}

// lookForWork waits a while for what comes next. A caller that has no other
// processor to come by must not wait for it, and a locked goroutine can't give its
// own away without sleeping.
func (s *Session) lookForWork() {
	if runtime.GOMAXPROCS(0) == 1 {
		return
	}
	for begin := time.Now(); len(s.work) == 0 && time.Since(begin) < workSoon; {
		yieldThread()
	}
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
