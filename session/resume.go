// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clewdev/clew/session/internal/worker"
)

// The methods here resume a stopped session until the next stop. At a breakpoint the original
// instruction runs first. A breakpoint, a fault or an interrupt ends a step early; the stop then has
// that reason. The error wraps ErrNotStopped or ErrRunning.

// Continue resumes the code until the next stop.
func (s *Session) Continue() (*Stop, error) {
	return s.run(whileStopped, s.proceed)
}

// StepInstruction executes one instruction, and steps into calls. A host function counts as one
// instruction, and so does one iteration of a repeated string instruction.
func (s *Session) StepInstruction() (*Stop, error) {
	return s.run(whileStopped, func() (*Stop, error) {
		stop, err := s.stepOnce()
		if stop == nil && err == nil {
			stop = s.stopped(SteppedInstruction)
		}
		return stop, err
	})
}

// StepRange executes instructions, and steps into calls, while the program counter is in [start, end).
// Debuggers step a source line in this way.
func (s *Session) StepRange(start, end uint64) (*Stop, error) {
	return s.run(whileStopped, func() (*Stop, error) {
		for {
			stop, err := s.stepOnce()
			if stop != nil || err != nil {
				return stop, err
			}
			if s.registers.PC()-start >= end-start {
				return s.stopped(SteppedInstruction), nil
			}
		}
	})
}

// RunTo runs to an address of an image, in any frame. If the session is at that address, it
// runs until the code comes back.
func (s *Session) RunTo(address uint64) (*Stop, error) {
	return s.run(whileStopped, func() (*Stop, error) {
		if address == s.registers.PC() {
			s.considered = address
		}
		if err := s.breakInternally(internal{address: address, reason: RanTo}); err != nil {
			return nil, err
		}
		return s.proceed()
	})
}

// unlessRunning returns an error while the session runs, and after Close.
func unlessRunning(state State) error {
	switch state {
	case Running:
		return ErrRunning
	case Closed:
		return ErrClosed
	}
	return nil
}

// whileStopped returns an error unless the session is stopped in a call.
func whileStopped(state State) error {
	if err := unlessRunning(state); err != nil || state == Stopped {
		return err
	}
	return ErrNotStopped
}

// whileFree returns an error unless a call can start.
func whileFree(state State) error {
	if state == Stopped {
		return ErrStopped
	}
	return unlessRunning(state)
}

// Abort ends the call: it discards the call's stack, but the writes to memory remain. The stop's
// reason is Aborted, or another one if the call has ended by itself. A running session is
// interrupted first, and the call or resume that runs it returns the same stop. Abort ends only the
// innermost nested call: see [Session.CallNested].
func (s *Session) Abort() (*Stop, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == Running {
		s.aborted = true
		if err := s.interrupt(); err != nil {
			return nil, err
		}
		run := s.latest
		for !run.over {
			s.changed.Wait()
		}
		return run.stop, run.err
	}
	if err := whileStopped(s.state); err != nil {
		return nil, err
	}
	if len(s.nested) > 0 && s.thread != 0 && thisThread() != s.thread {
		return nil, ErrThread
	}
	stop := s.leave()
	if err := s.settle(stop); err != nil {
		return nil, err
	}
	return stop, nil
}

// Interrupt stops the running code; the call or resume that runs it returns a stop with the reason
// Interrupted. Interrupt does not wait for that. It may be called from any goroutine. The error is
// ErrNotRunning unless the session is running.
func (s *Session) Interrupt() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case Closed:
		return ErrClosed
	case Running:
		return s.interrupt()
	}
	return ErrNotRunning
}

func (s *Session) interrupt() error {
	s.interrupted.Store(true)
	if s.worker == nil {
		return nil // startWorker checks the flag
	}
	if err := s.worker.Interrupt(); err != nil && err != worker.ErrGone {
		return fmt.Errorf("interrupting the worker: %w", err)
	}
	return nil
}

// The functions below run on the controlling goroutine, during a run.

// internal is a place where the current run stops.
type internal struct {
	address uint64
	cfa     uint64 // of the frame in which it stops; 0 is any
	reason  Reason
}

// breakInternally sets a trap for the current run only.
func (s *Session) breakInternally(at internal) error {
	if at.address == returnAddress(s.returns) {
		return nil // every run stops there
	}
	i := s.Image(at.address)
	if i == nil {
		return failure(ErrAddress, "%#x is in no image of the session", at.address)
	}
	if i.hostAt(at.address) == nil {
		if err := i.traps.set(at.address); err != nil {
			return err
		}
	}
	s.internals = append(s.internals, at)
	return nil
}

// dropInternals removes the traps of breakInternally.
func (s *Session) dropInternals() []internal {
	for _, at := range s.internals {
		if i := s.Image(at.address); i != nil {
			i.traps.clear(at.address)
		}
	}
	return s.internals[:0]
}

// proceed lets the worker run until a stop.
func (s *Session) proceed() (*Stop, error) {
	for {
		what, event, err := s.advance(false)
		if err != nil {
			return nil, err
		}
		if what == stepped {
			what = ownTrap // icebp
		}
		if stop := s.handle(what, event); stop != nil {
			return stop, nil
		}
	}
}

// stepOnce executes one instruction. If it returns no stop, it has executed the instruction and
// considered a trap after it.
func (s *Session) stepOnce() (*Stop, error) {
	for {
		what, event, err := s.advance(true)
		if err != nil {
			return nil, err
		}
		if stop := s.handle(what, event); stop != nil {
			return stop, nil
		}
		switch what {
		case stepped, watched:
			if s.interrupted.Load() {
				return s.stopped(Interrupted), nil
			}
			switch pc := s.registers.PC(); {
			case pc == returnAddress(s.returns):
				return s.returned(), nil
			case s.isTrap(pc):
				return s.atTrap(), nil
			}
			return nil, nil
		case atHost:
			return nil, nil
		}
	}
}

// stopped returns a stop at the worker's program counter.
func (s *Session) stopped(reason Reason) *Stop { return &Stop{Reason: reason, PC: s.registers.PC()} }

// handle returns the stop for a happening, or nil if the run continues.
func (s *Session) handle(what happening, event worker.Event) *Stop {
	switch what {
	case trapped, stopSignal, signalled:
		if s.interrupted.Load() {
			return s.stopped(Interrupted)
		}
	}
	switch what {
	case trapped:
		return s.atTrap()
	case atHost:
		pc := s.registers.PC()
		f := s.Image(pc).hostAt(pc)
		err := s.runHost(f)
		s.refreshWatchpoints()
		var exit *ExitError
		if errors.As(err, &exit) {
			s.leave()
			return &Stop{Reason: ExitedProcess, ExitCode: exit.Code & 0xff}
		}
		if err != nil {
			stop := s.stopped(HostFailed)
			stop.Err = err
			return stop
		}
	case watched, atHardware:
		return s.atWatchpoint()
	case ownTrap, signalled:
		stop := s.stopped(Signalled)
		if what == ownTrap {
			stop.Reason = Trapped
			stop.Err = foreignHost(stop.PC - worker.TrapAdvance)
		}
		stop.Signal = Signal{Number: event.Signal, Code: event.Code, Address: event.Addr}
		return stop
	case returned:
		return s.returned()
	case exited:
		return ended(event)
	}
	return nil
}

// ended returns the stop of a worker after its process has ended.
func ended(event worker.Event) *Stop {
	switch event.Kind {
	case worker.Exited:
		return &Stop{Reason: ExitedProcess, ExitCode: event.Code}
	case worker.Replaced:
		return &Stop{Reason: ExitedProcess, ExitCode: -1, Err: errReplaced}
	}
	signal := Signal{Number: event.Signal}
	return &Stop{Reason: ExitedProcess, ExitCode: -1, Signal: signal, Err: failure(errKilled, "killed by %v", signal)}
}

var (
	errReplaced = errors.New("the code called execve; its process was ended")
	errKilled   = errors.New("the process of the session was killed from outside")
	errGoexit   = errors.New("a host function or condition ended its goroutine (runtime.Goexit), and the call with it")
)

// returned returns the stop at the end of a call.
func (s *Session) returned() *Stop {
	stop := s.stopped(Returned)
	stop.Result, stop.Result2 = s.registers.Result()
	stop.FloatResult, stop.Err = s.worker.Float(0)
	if len(s.nested) > 0 {
		stop.results = s.resultRegisters()
	}
	return stop
}

// atTrap considers the trap at the program counter. It returns a stop if a breakpoint or an internal
// trap of this run stops there, otherwise nil.
func (s *Session) atTrap() *Stop {
	pc := s.registers.PC()
	s.considered = pc
	stop := s.atBreakpoint(pc)
	n := slices.IndexFunc(s.internals, func(at internal) bool {
		if at.address != pc {
			return false
		}
		if at.cfa == 0 {
			return true
		}
		cfa, ok := s.innermost().CFA()
		return ok && cfa == at.cfa
	})
	if n >= 0 {
		if stop == nil {
			stop = s.stopped(AtBreakpoint)
		}
		stop.Reason = s.internals[n].reason
	}
	return stop
}
