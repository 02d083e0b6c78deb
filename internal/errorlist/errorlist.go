// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package errorlist collects the errors of an operation on hostile input: the first ones, and the
// number of the others.
package errorlist

import (
	"errors"
	"fmt"
)

// List is a list of errors. The zero value is empty and keeps 8.
type List struct {
	Limit int // number of errors to keep; 0 is 8

	kept []error
	more int
}

// Add adds an error, unless it is nil.
func (l *List) Add(err error) {
	limit := l.Limit
	if limit == 0 {
		limit = 8
	}
	switch {
	case err == nil:
	case len(l.kept) < limit:
		l.kept = append(l.kept, err)
	default:
		l.more++
	}
}

// Err returns the errors joined, or nil.
func (l *List) Err() error {
	if l.more > 0 {
		return errors.Join(append(l.kept, fmt.Errorf("and %d more", l.more))...)
	}
	return errors.Join(l.kept...)
}
