// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"errors"
	"strings"
)

// ErrNotELF is wrapped by the error for a file, or an image in memory, that does not
// start with ELF's magic number: it is something else, not a damaged ELF file.
var ErrNotELF = errors.New("no ELF file")

// named says that an error, or several, are of the file.
func (f *File) named(err error) error {
	if err == nil {
		return nil
	}
	return &fileError{f.name, err}
}

// fileError is an error of a file, which each of its lines names: several are shown
// one by one.
type fileError struct {
	name string
	err  error
}

func (e *fileError) Error() string {
	start := e.name + ": "
	return start + strings.ReplaceAll(e.err.Error(), "\n", "\n"+start)
}

func (e *fileError) Unwrap() error { return e.err }
