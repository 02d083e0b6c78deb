// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import "fmt"

// MemoryError says that memory cannot be read or written.
type MemoryError struct {
	Address uint64 // the first one that cannot
	Write   bool
	Err     error
}

func (e *MemoryError) Error() string {
	what := "read"
	if e.Write {
		what = "write"
	}
	return fmt.Sprintf("cannot %s memory at %#x: %v", what, e.Address, e.Err)
}

func (e *MemoryError) Unwrap() error { return e.Err }

// ReadMemory fills p with the memory at an address: of all of this process, as it
// would be without breakpoints. The error is a *MemoryError; p then holds what is
// before its Address. It works in every state but Closed, and implements
// cfi.Memory.
func (s *Session) ReadMemory(p []byte, address uint64) error { return errNotYet }

// WriteMemory writes p to the memory at an address. Code of the images can be
// written, also under breakpoints, although it is not writable. The error is a
// *MemoryError; what is before its Address was written.
func (s *Session) WriteMemory(p []byte, address uint64) error { return errNotYet }
