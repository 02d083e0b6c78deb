// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region

import (
	"errors"
	"fmt"
)

// The kinds of faults that descriptions have. An *Error wraps one of them;
// [errors.Is] finds it.
var (
	ErrMachine   = errors.New("regions are not understood for the machine")
	ErrProcedure = errors.New("bad procedure")
	ErrRegion    = errors.New("bad region")
	ErrOperation = errors.New("bad operation")
	ErrLabel     = errors.New("unknown label")
	ErrAlias     = errors.New("bad alias")
	// ErrLimit says that a description is larger than any real one.
	ErrLimit = errors.New("too many regions or operations")
)

// Error is a fault in a procedure's description, with its place.
type Error struct {
	Procedure *Procedure
	Region    int   // index in the list, -1 for a fault of no region
	Op        int   // index in Region.Ops, -1 for a fault of no operation
	Err       error // what was found and what was expected; wraps one of the kinds above

	op Op
}

func (e *Error) Error() string {
	name := e.Procedure.Name
	if name == "" {
		name = "procedure"
	}
	s := fmt.Sprintf("%s at %#x: ", name, e.Procedure.Start)
	if e.Region >= 0 {
		s += fmt.Sprintf("region %d: ", e.Region)
	}
	if e.Op >= 0 {
		s += fmt.Sprintf("op %d, %v: ", e.Op, e.op)
	}
	return s + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// fault makes an error of a kind, for an Error to say where.
func fault(kind error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
}
