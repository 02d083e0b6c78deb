// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import "errors"

var errNotYet = errors.New("not yet")

// NextInstruction executes one instruction, over calls.
func (s *Session) NextInstruction() (*Stop, error) { return nil, errNotYet }

// StepLine goes on to the start of another source line, into functions that have
// lines.
func (s *Session) StepLine() (*Stop, error) { return nil, errNotYet }

// NextLine goes on to the start of another source line of this function, or to
// its caller.
func (s *Session) NextLine() (*Stop, error) { return nil, errNotYet }

// StepOut goes on until the function, in the frame of the given level (0 is the
// innermost), returns to its caller.
func (s *Session) StepOut(level int) (*Stop, error) { return nil, errNotYet }
