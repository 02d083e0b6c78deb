// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

// The methods here go on from a stop until the next one. From a breakpoint the
// instruction that stands there runs first. A breakpoint, a fault or an interrupt
// ends a step early, with its own reason. The error wraps ErrNotStopped or
// ErrRunning.

// Continue goes on.
func (s *Session) Continue() (*Stop, error) { return nil, errNotYet }

// StepInstruction executes one instruction, into calls.
func (s *Session) StepInstruction() (*Stop, error) { return nil, errNotYet }

// NextInstruction executes one instruction, over calls.
func (s *Session) NextInstruction() (*Stop, error) { return nil, errNotYet }

// StepRange executes instructions for as long as the program counter stays in
// [start, end), into calls: the range of a line, as debuggers step it.
func (s *Session) StepRange(start, end uint64) (*Stop, error) { return nil, errNotYet }

// StepLine goes on to the start of another source line, into functions that have
// lines.
func (s *Session) StepLine() (*Stop, error) { return nil, errNotYet }

// NextLine goes on to the start of another source line of this function, or to
// its caller.
func (s *Session) NextLine() (*Stop, error) { return nil, errNotYet }

// StepOut goes on until the function, in the frame of the given level (0 is the
// innermost), returns to its caller.
func (s *Session) StepOut(level int) (*Stop, error) { return nil, errNotYet }

// RunTo goes on to an address, in whatever frame.
func (s *Session) RunTo(address uint64) (*Stop, error) { return nil, errNotYet }

// Abort leaves the call: what it had on the stack is forgotten, what it did to
// memory stays. The stop's reason is Aborted. A running session is interrupted
// first.
func (s *Session) Abort() (*Stop, error) { return nil, errNotYet }

// Interrupt stops the running code; the call or resume that runs it returns
// Interrupted. It returns before that, and may be called from any goroutine. The
// error is ErrNotRunning unless the session is running.
func (s *Session) Interrupt() error { return errNotYet }
