// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debugfile

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/clewdev/clew/object"
)

func refuse(p *Place, format string, args ...any) error {
	return &object.RefusedError{Path: p.Name(), Reason: fmt.Sprintf(format, args...)}
}

// NotFoundError lists where a file was looked for, and why the files found were refused.
// It wraps fs.ErrNotExist if nothing was found at all.
type NotFoundError struct {
	Path    string // of the module, as the target sees it
	BuildID []byte // nil if unknown

	Failed []error  // for each file found: an *object.RefusedError, or a read error
	Absent []string // paths without a file
	Stores []string // directories without a file of the build ID
	Asked  bool     // Search.Fetch did not find it either
}

func (e *NotFoundError) Error() string { return e.Path + ": " + e.Reason() }

// Reason returns the error text without the name of the module.
func (e *NotFoundError) Reason() string {
	var text []string
	for _, err := range e.Failed {
		text = append(text, err.Error())
	}
	switch n := len(e.Absent); {
	case n == 0 && len(text) == 0, n == 1 && e.Absent[0] == e.Path:
		text = append(text, "it is not there")
	case n > 0:
		text = append(text, "there is no "+strings.Join(e.Absent, ", no "))
	}
	if len(e.Stores) > 0 {
		text = append(text, fmt.Sprintf("no file of build ID %x was found in %s", e.BuildID, strings.Join(e.Stores, ", ")))
		if e.Asked {
			text[len(text)-1] += ", nor could one be fetched"
		}
	}
	return strings.Join(text, "; ")
}

// Unwrap returns the errors of the files that were found.
func (e *NotFoundError) Unwrap() []error {
	if len(e.Failed) == 0 {
		return []error{fs.ErrNotExist}
	}
	return e.Failed
}
