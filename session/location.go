// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

// Locate returns the addresses that a location names:
//
//	*0x401000        an address
//	fib              a function, behind its prologue; of several with that name, all
//	*fib             a function's first instruction
//	fib+12           bytes from a function's first instruction
//	fib.c:12         a line, or the next that has code; the file by its name or the
//	                 end of its path
//	12               a line of the file that the innermost frame is in
//	+1, -1           lines from the line that the innermost frame is in
//
// The error wraps ErrNotFound.
func (s *Session) Locate(location string) ([]uint64, error) { return nil, errNotYet }
