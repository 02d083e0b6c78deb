// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region

import (
	"errors"
	"fmt"
)

// The kinds of faults of descriptions. An *Error wraps one of them, as [errors.Is]
// reports.
var (
	ErrMachine   = errors.New("regions are not supported for the machine")
	ErrProcedure = errors.New("invalid procedure")
	ErrRegion    = errors.New("invalid region")
	ErrOperation = errors.New("invalid operation")
	ErrLabel     = errors.New("unknown label")
	ErrAlias     = errors.New("invalid alias")
	// ErrLimit means that a description is larger than any real one.
	ErrLimit = errors.New("too many regions or operations")
)

// Error is a fault in a procedure's description, with its place.
type Error struct {
	Procedure *Procedure
	Region    int   // index in the list, -1 if the fault is not in a region
	Op        int   // index in Region.Ops, -1 if the fault is not in an operation
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

// fault makes an error of a kind; an Error adds the place.
func fault(kind error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
}
