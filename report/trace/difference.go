// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"io"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/profile"
	"github.com/clewdev/clew/report/style"
)

// Difference is the difference of two profiles, and what it prints of them.
type Difference struct {
	*profile.Difference
	Paths     [2]string // of the files before and after
	Functions int       // number of functions that Text lists
	Palette   style.Palette
}

// Text writes the functions with the largest changes.
func (d *Difference) Text(w io.Writer) error {
	var out []byte
	for i, p := range []*profile.Profile{d.Before, d.After} {
		out = fmt.Appendf(out, "%s %d %s in %s\n", [...]string{"before:", "after: "}[i], p.Total(), printable.Text(p.Unit()), printable.Text(d.Paths[i]))
	}
	list := d.Difference.Functions()
	changed := 0
	for changed < len(list) && (list[changed].Self() != 0 || list[changed].Total() != 0) {
		changed++
	}
	if changed == 0 {
		_, err := w.Write(append(out, "\nEach function has the same share in both.\n"...))
		return err
	}
	shown := min(changed, d.Functions)
	if shown > 0 {
		out = append(out, "\n   self    from      to    total    from      to  function\n"...)
	}
	for i := range list[:shown] {
		c := &list[i]
		out = fmt.Appendf(out, "%+6.1f%%  %5.1f%%  %5.1f%%  %+6.1f%%  %5.1f%%  %5.1f%%  ", 100*c.Self(), 100*c.SelfBefore, 100*c.SelfAfter,
			100*c.Total(), 100*c.TotalBefore, 100*c.TotalAfter)
		out = d.Palette.Name.Append(out, printable.Text(c.Function))
		if c.Object != "" && c.Function != "["+c.Object+"]" {
			out = append(out, " in "+printable.Text(c.Object)...)
		}
		out = append(out, '\n')
	}
	if more := changed - shown; more > 0 {
		out = fmt.Appendf(out, "%s and %s\n", "                                                ", plural(uint64(more), "more function"))
	}
	_, err := w.Write(out)
	return err
}

type jsonDifference struct {
	Before    jsonProfile  `json:"before"`
	After     jsonProfile  `json:"after"`
	Functions []jsonChange `json:"functions"`
}

type jsonProfile struct {
	File  string `json:"file"`
	Total int64  `json:"total"`
	Unit  string `json:"unit"`
}

type jsonChange struct {
	Function    string  `json:"function"`
	Object      string  `json:"object,omitempty"` // base name
	SelfBefore  float64 `json:"self_before"`
	SelfAfter   float64 `json:"self_after"`
	TotalBefore float64 `json:"total_before"`
	TotalAfter  float64 `json:"total_after"`
}

// DifferenceSchema describes what [Difference.JSON] writes.
const DifferenceSchema = `One object. Weights of functions are shares of the profile, from 0 to 1; the largest
changes of "self" come first.

  {"before": {"file", "total", "unit"}, "after": {"file", "total", "unit"},
   "functions": [{"function", "object", "self_before", "self_after", "total_before",
     "total_after"}]}`

// JSON writes all functions of both profiles.
func (d *Difference) JSON(w io.Writer) error {
	of := func(i int, p *profile.Profile) jsonProfile {
		return jsonProfile{d.Paths[i], p.Total(), p.Unit()}
	}
	out := jsonDifference{of(0, d.Before), of(1, d.After), []jsonChange{}}
	for _, c := range d.Difference.Functions() {
		out.Functions = append(out.Functions, jsonChange(c))
	}
	return printable.EncodeJSON(w, &out)
}
