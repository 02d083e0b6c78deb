// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"errors"
	"fmt"
)

// failures is what went wrong that nobody could be told of at once: the first ones,
// and how many there were.
type failures struct {
	first []error
	more  int
}

const maxFailures = 8

func (f *failures) add(err error) {
	switch {
	case err == nil:
	case len(f.first) < maxFailures:
		f.first = append(f.first, err)
	default:
		f.more++
	}
}

// err returns nil where nothing went wrong.
func (f *failures) err() error {
	err := errors.Join(f.first...)
	if f.more > 0 {
		err = errors.Join(err, fmt.Errorf("and %d more", f.more))
	}
	return err
}
