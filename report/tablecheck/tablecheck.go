// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package tablecheck prints the results of package check, findings about unwind tables: as text
// with the code around each finding, as JSON, and as SARIF. It checks nothing itself.
package tablecheck

import (
	"fmt"
	"io"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/check/survey"
	"github.com/clewdev/clew/object"
)

// Printer prints the results of a survey.
type Printer interface {
	// Result prints the result for one part.
	Result(w io.Writer, r *survey.Result) error
	// End prints what follows the last result.
	End(w io.Writer, t *Total) error
}

// Total sums up all results.
type Total struct {
	check.Counters
	Parts    int // parts with functions or findings
	Findings int // without those of the baseline
	Known    int // findings of the baseline
	Notes    map[check.NoteKind]int
}

// Add adds a result.
func (t *Total) Add(r *survey.Result) {
	if r.Failed {
		return
	}
	if r.Functions > 0 || len(r.Findings) > 0 {
		t.Parts++
	}
	t.Findings += len(r.Findings)
	t.Known += len(r.Known)
	for i := range r.Notes {
		if t.Notes == nil {
			t.Notes = make(map[check.NoteKind]int)
		}
		t.Notes[r.Notes[i].Kind] += r.Notes[i].Count
	}
	t.Counters.Add(&r.Counters)
}

// defect describes a finding without its place.
func defect(f *check.Finding) string {
	switch {
	case f.Expected == "":
		return fmt.Sprintf("%s: %s", f.Kind, f.Found)
	case f.Kind == check.NotRestored:
		return fmt.Sprintf("%s: %s, %s", f.Kind, f.Register, f.Found)
	}
	return fmt.Sprintf("%s: %s by the code, %s by the table", f.Kind, f.Expected, f.Found)
}

// locate returns the place of an address in the source; nil if it is not known.
func locate(p *survey.Part, address uint64) *object.Location {
	if p.Code == nil {
		return nil
	}
	at, _ := p.Code.Locate(address) // without lines, the address is printed alone
	if len(at) == 0 || at[0].File == "" || at[0].Line == 0 {
		return nil
	}
	return &at[0]
}

// fileOf returns the name of a part for programs: a path, or the kind of a list in memory.
func fileOf(p *survey.Part) string {
	if p.Listed() {
		return p.Key
	}
	return p.Name
}
