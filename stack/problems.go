// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"errors"
	"slices"

	"github.com/clewdev/clew/internal/printable"
)

// maxProblems bounds the errors that are reported of one object.
const maxProblems = 8

// Problems collects the errors of one object: the first eight, and each line of them
// once. A damaged unit fails at each of its addresses, a damaged table at each pass.
type Problems struct {
	Errors []error // name the object, or the file of the error

	known map[string]bool // the texts of Errors, and their lines
}

// Add adds an error, which may be nil. If only some of its lines are new, it adds those.
func (p *Problems) Add(err error) {
	if err == nil || len(p.Errors) == maxProblems {
		return
	}
	text := err.Error()
	if p.known[text] {
		return
	}
	lines := printable.Lines(err)
	added := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return p.known[line] })
	if p.known == nil {
		p.known = make(map[string]bool)
	}
	for _, line := range append(lines, text) {
		p.known[line] = true
	}
	if len(added) == len(lines) {
		p.Errors = append(p.Errors, err)
		return
	}
	for _, line := range added {
		p.Errors = append(p.Errors, errors.New(line))
	}
}
