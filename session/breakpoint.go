// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

// Breakpoint is a breakpoint or logpoint of a session. What it was set with does
// not change.
type Breakpoint struct {
	ID        int    // from 1, also of watchpoints; not used twice
	Spec      string // what BreakAt was given
	Addresses []uint64
	Options   BreakpointOptions

	session *Session
}

// BreakpointOptions says when a breakpoint stops. The zero value, like nil, is
// always.
type BreakpointOptions struct {
	// Condition is asked first, and decides whether the hit counts. It runs while
	// the worker waits and must not run code; the frame is the innermost one,
	// valid until it returns. Its error stops the session as if it were true.
	Condition func(*Frame) (bool, error)

	Skip      int  // pass so many hits silently
	Max       int  // after so many stops the breakpoint removes itself; 0 is never
	Temporary bool // Max of 1

	// Log makes it a logpoint: Log runs instead of stopping. An error stops.
	Log func(*Frame) error

	// Hardware uses a debug register of the worker instead of a trap instruction.
	// It may then be anywhere, also outside of the images. There are few (four on
	// amd64, shared with watchpoints).
	Hardware bool
}

// Break sets a breakpoint at an address in an image. The error wraps ErrAddress
// where there is no instruction that a trap can take the place of.
func (s *Session) Break(address uint64, o *BreakpointOptions) (*Breakpoint, error) {
	return nil, errNotYet
}

// BreakAt sets a breakpoint at all places that a location is: see Locate.
func (s *Session) BreakAt(location string, o *BreakpointOptions) (*Breakpoint, error) {
	return nil, errNotYet
}

// Breakpoints returns the breakpoints in the order of their IDs.
func (s *Session) Breakpoints() []*Breakpoint { return nil }

// Remove removes a breakpoint or watchpoint. The error wraps ErrNotFound.
func (s *Session) Remove(id int) error { return errNotYet }

// Enable switches a breakpoint or watchpoint on or off. The error wraps ErrNotFound.
func (s *Session) Enable(id int, enabled bool) error { return errNotYet }

// Hits returns how often the breakpoint was met with its condition true.
func (b *Breakpoint) Hits() int { return 0 }

// Enabled reports whether the breakpoint is switched on.
func (b *Breakpoint) Enabled() bool { return false }
