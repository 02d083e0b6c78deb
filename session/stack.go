// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/unwind"
)

// Frame is one frame of a stopped session's stack. It implements value.Frame, and
// is valid until the session goes on.
type Frame struct {
	Level int // 0 is the innermost

	// PC and LookupPC are as unwind.Frame has them: the second belongs to the call
	// in frames that wait for one to return.
	PC, LookupPC uint64
	Method       unwind.Method

	Image    *Image   // nil for code of the program's own
	Function Function // zero where none is known

	// Locations are where the frame is in the source: the innermost inlined call
	// first, the function itself last.
	Locations []object.Location
}

// Stack is the stack of a stopped session.
type Stack struct {
	Frames []Frame // innermost first; the last is the function that was called

	// Reason is why the walk ended, and Err what stood in its way.
	Reason unwind.Reason
	Err    error
}

// Stack returns the frames, at most limit; 0 is all.
func (s *Session) Stack(limit int) (*Stack, error) { return nil, errNotYet }

// Frame returns the innermost frame.
func (s *Session) Frame() (*Frame, error) { return nil, errNotYet }

// Register returns the value of a DWARF column in the frame, where it is known.
func (f *Frame) Register(column uint64) (uint64, bool) { return 0, false }

// CFA returns the canonical frame address.
func (f *Frame) CFA() (uint64, bool) { return 0, false }

// ReadMemory reads memory as Session.ReadMemory does.
func (f *Frame) ReadMemory(p []byte, address uint64) error { return errNotYet }

// SetRegister sets a register in the frame: where it was saved on the stack, or
// the worker's own.
func (f *Frame) SetRegister(column uint64, value uint64) error { return errNotYet }
