// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"fmt"

	"github.com/clewdev/clew/session/internal/worker"
)

// suspended is the state of a stopped call while a nested call runs.
type suspended struct {
	stop       *Stop          // of the call
	registers  worker.General // with original addresses
	kernel     worker.General
	shown      uint64
	in         inSlot
	considered uint64
	inline     inlineState
	skipped    int // inlined calls at the program counter that are not entered
	processor  *worker.State
}

const (
	maxNested = 100 // nested calls, which walks of the stack visit

	// redZone is the number of bytes below the stack pointer that code may use without a frame
	// (psABI amd64 §3.2.2). Other machines have none, and lose nothing by it.
	redZone = 128
)

// CallNested calls a function in the worker while the session is stopped in a call, as a debugger
// does for an expression with a call. The function runs on the stack of the stopped call, below its
// innermost frame. CallNested returns at the first stop: at a breakpoint or a fault in the function,
// or when it returns.
//
// When the nested call ends, because the function returned or by [Session.Abort], the session is
// stopped again as it was before: in the state Stopped, with all registers of the stopped call.
// Stop.Outer is then the stop of that call. Writes to memory remain, also those to objects on the
// stopped call's stack. Until then the session's methods concern the nested call, and its stack has
// the frames of both: see Frame.Marker. Nested calls can be nested themselves. Code that ends its
// process, or calls a host function that returns an *ExitError, ends all calls.
//
// The error wraps ErrNotStopped, ErrRunning, ErrArguments as for [Session.CallWith], or ErrAddress for
// an address outside the images, or for a stack pointer that is not in writable memory, as after a
// stack overflow. After an error the session is stopped where it was.
func (s *Session) CallNested(function uint64, a Arguments) (*Stop, error) {
	if err := s.checkCall(function, a); err != nil {
		return nil, err
	}
	return s.run(whileStopped, func() (*Stop, error) {
		if err := s.suspend(); err != nil {
			return nil, err
		}
		err := s.prepareNested(function, a)
		var stop *Stop
		if err == nil {
			stop, err = s.enterCall(function, a)
		}
		if err != nil && s.worker != nil {
			err = errors.Join(err, s.resumeSuspended())
		}
		return stop, err
	})
}

// Nested returns the number of nested calls of a stopped session: see [Session.CallNested].
func (s *Session) Nested() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != Stopped {
		return 0
	}
	return len(s.nested)
}

// The functions below run on the controlling goroutine.

// suspend saves the state of the stopped call.
func (s *Session) suspend() error {
	if len(s.nested) >= maxNested {
		return failure(ErrStopped, "%d calls are nested; abort some first", len(s.nested))
	}
	o := &suspended{stop: s.at, registers: s.registers, kernel: s.kernel, shown: s.shown, in: s.in, considered: s.considered}
	o.skipped = s.shownPosition().skipped
	o.inline = s.inline
	var err error
	if o.processor, err = s.worker.Save(); err != nil && err != worker.ErrGone {
		return fmt.Errorf("reading the worker's registers: %w", err)
	}
	s.nested = append(s.nested, o)
	s.inline = inlineState{}
	return nil
}

// prepareNested is prepare for a nested call.
func (s *Session) prepareNested(function uint64, a Arguments) error {
	sp := s.registers.SP()
	if sp < redZone {
		return noStack(sp)
	}
	if err := s.pass(function, a, sp-redZone, writeWord); err != nil {
		return noStack(sp)
	}
	return s.enterFunction(a)
}

func noStack(sp uint64) error {
	return failure(ErrAddress, "no function can be called here: the stack pointer %#x is not in writable memory", sp)
}

// resumeSuspended restores the innermost call that is suspended.
func (s *Session) resumeSuspended() error {
	last := len(s.nested) - 1
	o := s.nested[last]
	s.nested = s.nested[:last]
	s.registers, s.shown, s.in, s.considered, s.inline, s.matched = o.registers, o.shown, o.in, o.considered, o.inline, nil
	s.worker.Matches()
	err := s.worker.SetRegisters(&o.kernel)
	if err == nil {
		s.kernel = o.kernel
		if o.processor != nil {
			err = s.worker.Restore(o.processor)
		}
	}
	if err != nil && err != worker.ErrGone {
		return fmt.Errorf("restoring the registers of the stopped call: %w", err)
	}
	return nil
}

// leaveNested ends the innermost nested call at its last stop. The caller holds mu.
func (s *Session) leaveNested(stop *Stop) error {
	outer := s.nested[len(s.nested)-1].stop
	var err error
	if e := s.do(func() { err = s.resumeSuspended() }); e != nil {
		return e
	}
	stop.Outer = outer
	stop.Err = errors.Join(stop.Err, err)
	return nil
}

// resultRegisters returns the registers in which functions return values, except those in Stop.
func (s *Session) resultRegisters() map[string][]byte {
	values := map[string][]byte{}
	if r := s.machine.Results; r != nil {
		for _, columns := range [...][]uint8{r.Vectors, r.Extended} {
			for _, column := range columns {
				name := s.machine.RegisterName(uint64(column))
				if v, err := s.worker.Vector(name); err == nil {
					values[name] = v
				}
			}
		}
	}
	return values
}

// ResultRegister returns the bytes of a floating-point or vector register in which functions return
// values, least significant first, at the end of a nested call that has returned. Then the session
// has the registers of the stopped call again. After other calls it reports false: [Session.Register]
// has the register.
func (s *Stop) ResultRegister(name string) (value []byte, ok bool) {
	value, ok = s.results[name]
	return value, ok
}
