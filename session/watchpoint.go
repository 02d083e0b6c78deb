// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

// Access is what a watchpoint watches for.
type Access uint8

const (
	Write     Access = 1 + iota // any write, also of the value that is there
	ReadWrite                   // any access
	Change                      // a write that changes the value
)

// Watchpoint stops a session when memory is accessed, through a debug register of
// the worker. The stop is behind the instruction that did it.
type Watchpoint struct {
	ID      int
	Address uint64
	Size    int // bytes: 1, 2, 4 or 8, aligned
	Access  Access
	Options BreakpointOptions

	session *Session
}

// Watch sets a watchpoint. Of the options Log and Hardware mean nothing more. The
// error wraps ErrAddress for a size or alignment that the machine does not have,
// and ErrInUse where all debug registers are taken.
func (s *Session) Watch(address uint64, size int, access Access, o *BreakpointOptions) (*Watchpoint, error) {
	return nil, errNotYet
}

// Watchpoints returns the watchpoints in the order of their IDs.
func (s *Session) Watchpoints() []*Watchpoint { return nil }

// Hits returns how often the watchpoint was met with its condition true.
func (w *Watchpoint) Hits() int { return 0 }

// Enabled reports whether the watchpoint is switched on.
func (w *Watchpoint) Enabled() bool { return false }

// Values returns the memory as it was before and after the last hit.
func (w *Watchpoint) Values() (old, new []byte) { return nil, nil }
